"""The application itself: parts of the screen, keys, and a line in which is asked and answered.

The only file that imports textual.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, ClassVar, Final, TypeVar

from rich.text import Text
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Input, Static, Tree
from textual.widgets.tree import TreeNode

from isa.errors import LanewiseError
from sim.debug.app.beside import cycles_text, golden_text
from sim.debug.app.code import FAULT, SourceText, code_text, plain
from sim.debug.app.keys import HINTS, KEYS, PARTS
from sim.debug.app.lanes import address_of, flags_text, instruction_text, memory_text, registers_text
from sim.debug.app.looking import ALL, LaneKind, Looking
from sim.debug.commands import SessionCommands
from sim.debug.conditions import At
from sim.debug.session import Session
from sim.debug.timeline import Interrupted
from sim.debug.way import LaneWay, WhyStep

_QUESTIONS: Final = {
    "goto": "go to instruction number", "run": "go on to", "why": "why is", "slice": "what is reached by",
    "type": "type of lanes", "memory": "memory at", "command": "command",
}  # fmt: skip
_WIDE: Final = 120
PATIENCE = 0.05
"""Seconds after which what is under way is said to be, and keys are heard."""
_Result = TypeVar("_Result")


class Part(VerticalScroll, inherit_bindings=False):
    """A part of the screen that is painted whole, and scrolled."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll_up", show=False), Binding("down", "scroll_down", show=False),
        Binding("pageup", "page_up", show=False), Binding("pagedown", "page_down", show=False),
    ]  # fmt: skip

    def compose(self) -> ComposeResult:
        yield Static(markup=False)

    def paint(self, text: Text, row: int | None = None) -> None:
        """Show a text, with one of its rows in the middle; None: from where it was."""
        self.query_one(Static).update(text)
        if row is not None:
            middle = max(0, row - self.scrollable_content_region.height // 2)
            self.call_after_refresh(self.scroll_to, y=middle, animate=False)


class WhyTree(Tree[WhyStep | None], inherit_bindings=False):
    """The way of a lane, of which every step opens to what it was made of."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *Part.BINDINGS[2:], Binding("up", "cursor_up", show=False), Binding("down", "cursor_down", show=False),
        Binding("enter", "select_cursor", show=False), Binding("space", "toggle_node", show=False),
    ]  # fmt: skip

    def __init__(self) -> None:
        super().__init__("w asks why a lane is what it is", id="why")
        self.auto_expand = False
        self._way: LaneWay | None = None

    def show(self, way: LaneWay) -> None:
        """Show another way, open down to where it parts from the golden reference."""
        self._way = way
        self.clear()
        self.root.set_label(Text(plain(way.heading), "bold"))
        steps, leading = way.steps, dict[int, WhyStep]()
        for at, each in enumerate(steps):
            if each.parts or not leading.keys().isdisjoint(each.made_of):
                leading[at] = each
        used = {at for step in steps for at in step.made_of}
        opened = [
            self._add(self.root, step) for at, step in reversed([*enumerate(steps)]) if way.is_forward or at not in used
        ]
        while opened:
            node = opened.pop()
            if node.data is not None and node.data.parts:
                self.call_after_refresh(self.move_cursor, node)
            elif node.data in leading.values():
                node.expand()
                opened += self._fill(node)
        for title, others in (("what only made addresses", way.addresses), ("what decided", way.decisions)):
            if others:
                group = self.root.add(Text(title, "dim"), data=None, expand=any(other.parts for other in others))
                for other in others:
                    self._add(group, other, is_leaf=True)
        if way.unoptimized:
            self.root.add_leaf(Text(plain(f"at -O0 also through {', '.join(way.unoptimized)}"), "dim"))
        self.root.expand()

    def _add(self, parent: TreeNode[WhyStep | None], step: WhyStep, is_leaf: bool = False) -> TreeNode[WhyStep | None]:
        label = Text.assemble(
            (plain(step.result), FAULT if step.parts else "bold"),
            (plain(f"  #{step.number} {step.source} "), "dim"), step.instruction,
            (f"  {', '.join(step.events)}" if step.events else "", "yellow"),
            (plain(f"  golden {step.golden}") if step.golden else "", "green"),
            ("  parts from the golden reference here" if step.parts else "", FAULT),
        )  # fmt: skip
        forward = self._way is not None and self._way.is_forward
        return parent.add(label, data=step, allow_expand=bool(step.made_of) and not forward and not is_leaf)

    def _fill(self, node: TreeNode[WhyStep | None]) -> list[TreeNode[WhyStep | None]]:
        if node.data is None or self._way is None or node.children:
            return []
        return [self._add(node, self._way.steps[at]) for at in reversed(node.data.made_of)]

    def on_tree_node_expanded(self, event: Tree.NodeExpanded[WhyStep | None]) -> None:
        self._fill(event.node)


class Help(ModalScreen[None]):
    """All keys."""

    def compose(self) -> ComposeResult:
        text = Text("lanewise debug", "bold").append(
            "   instructions are numbered from 0; lanes: the lowest first\n", "dim"
        )
        for key in KEYS:
            text.append(f"{key.shown:<12}", "bold cyan").append(f"{key.does}\n")
        text.append("* changed   ! differs   ▶ next   • on the way   ✗ at fault", "dim")
        with VerticalScroll():
            yield Static(text, markup=False)

    def on_key(self, event: events.Key) -> None:
        if event.key not in ("up", "down", "pageup", "pagedown"):
            event.stop()
            self.dismiss()


class Done(Message):
    """What took long is done, and is to be shown."""

    def __init__(self, show: Callable[[], None]) -> None:
        super().__init__()
        self.show = show


class Debugger(App[None]):
    """A session on the screen."""

    CSS_PATH = "screen.tcss"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (_WIDE, "-wide")]  # noqa: RUF012  (so it is declared in textual)
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(keys, action, show=False) for key in KEYS for keys, action in key.actions),
        Binding("escape", "leave_question", show=False), Binding("ctrl+c", "quit", show=False),
    ]  # fmt: skip

    def __init__(self, session: Session, told: str = "") -> None:
        """`told` is what the opening of the session says, of which the first line stays on the screen."""
        super().__init__()
        self.looking = Looking(session)
        self._commands = SessionCommands(session)
        self._source = SourceText(self.looking)
        self._told = told
        self._part = PARTS[0]
        self._question = ""
        self._last: dict[str, str] = {}
        self._worker = ThreadPoolExecutor(1)
        self._doings: Future[Any] | None = None

    def compose(self) -> ComposeResult:
        yield Static(id="head", markup=False)
        yield Static(id="trouble", markup=False)
        with Container(id="body"):
            with Container(id="code"):
                yield Part(id="source")
                yield Part(id="instructions")
            with Container(id="lanes"):
                yield Part(id="instruction")
                for name in PARTS:
                    yield WhyTree() if name == "why" else Part(id=name)
        yield Input(id="question")
        yield Static(Text(HINTS, "dim"), id="keys", markup=False)

    def on_mount(self) -> None:
        self.query_one("#source").border_title = "source"
        self.query_one("#instruction").border_title = "executed last"
        self.query_one("#answers", Part).paint(Text(plain_lines(self._told)))
        self.query_one("#question").display = False
        if (way := self.looking.session.wrong_way) is not None:
            self._show_way(way)
        self.looking.look()
        self.query_one("#instructions").focus()
        self.action_part(1 + PARTS.index("why" if self.looking.way is not None else "registers"))

    def on_resize(self) -> None:
        self.call_after_refresh(self._choose_parts)

    # What is shown

    def _moved(self) -> None:
        self.looking.look()
        self._say("")
        self._paint()

    def _paint(self) -> None:
        if self._doings is not None:
            return
        looking, session = self.looking, self.looking.session
        machine, trouble = session.machine, session.trouble
        end = "end" if session.is_at_end else f"#{session.position}"
        state = Text.assemble(f"   {end} of {looking.total:,}   ", flags_text(machine.nzcv, machine.fpsr))
        state.append(f"   lanes {looking.lanes}", "dim")
        state.append(f"   {looking.cycles.core.name}" if looking.cycles is not None else "", "cyan")
        title, room = plain(session.call.title), max(0, self.size.width - 2 - state.cell_len)
        title = title if len(title) <= room else f"{title[: max(0, room - 1)]}…"
        self.query_one("#head", Static).update(Text.assemble((title, "bold"), state))
        wrong = "nothing is wrong with this call" if trouble is None else plain(trouble.says.split("\n")[0])
        self.query_one("#trouble", Static).update(Text.assemble((wrong, "bold green" if trouble is None else FAULT)))
        self.query_one("#instructions").border_title = (
            "instructions by address" if looking.by_address else "instructions as executed"
        )
        for name, paint in self._painters().items():
            part = self.query_one(f"#{name}", Part)
            if part.display:
                part.paint(*paint(looking, part.scrollable_content_region.width))

    def _painters(self) -> dict[str, Callable[[Looking, int], tuple[Text, int | None]]]:
        return {
            "source": lambda looking, width: self._source.painted(width),
            "instructions": code_text,
            "instruction": lambda looking, width: (instruction_text(looking, width), 0),
            "registers": registers_text,
            "golden": lambda looking, width: (golden_text(looking), None),
            "memory": memory_text,
            "cycles": cycles_text,
        }

    def _show_way(self, way: LaneWay) -> None:
        self.looking.ask(way)
        self.query_one(WhyTree).show(way)

    def _say(self, text: str, style: str = "") -> None:
        """In the line of hints, which come back with the next key that moves."""
        self.query_one("#keys", Static).update(Text.assemble((plain(text) or HINTS, style if text else "dim")))

    def _doing(self, work: Callable[[], _Result], then: Callable[[_Result], object]) -> None:
        """Do what may be refused, which is said in a sentence, or may take long, which Escape ends; then show it.

        Until it is done no other key is obeyed, and nothing is painted that would ask the session.
        """
        session = self.looking.session
        here = session.position
        self._doings = self._worker.submit(work)

        def show() -> None:
            self._doings = None
            session.timeline.interrupted.clear()
            self._say("")
            try:
                then(done.result())
            except Interrupted:
                session.goto(here)
                self._say("ended by Escape: the session stands where it stood", "yellow")
            except (LanewiseError, ValueError) as error:
                self._say(str(error), FAULT)

        done = self._doings
        try:
            done.exception(PATIENCE)
        except TimeoutError:
            self._say("looking for it: Escape ends that", "yellow")
            done.add_done_callback(lambda _: self.post_message(Done(show)))
        else:
            show()

    def on_done(self, message: Done) -> None:
        message.show()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While the session is at work only what ends that is obeyed."""
        return self._doings is None or action in ("leave_question", "quit")

    async def action_quit(self) -> None:
        """End what is under way first, and leave only where nothing is."""
        if self._doings is not None:
            self.action_leave_question()
        else:
            self._worker.shutdown()
            await super().action_quit()

    # Keys

    def action_step(self, by: int) -> None:
        session = self.looking.session
        if by < 0:
            session.back(-by)
        elif session.step(by) is None:
            self._say("the call has returned" if session.timeline.returned else f"{session.timeline.fault}", "yellow")
            return
        self._moved()

    def action_line(self, by: int) -> None:
        session = self.looking.session
        image, here = session.call.image, session.source
        lines = image.lines if image is not None else ()
        others = At(frozenset(pc for start, end, line in lines if str(line) != here for pc in range(start, end, 4)))
        if not others.pcs:
            self._say("no other source line is known of this call", "yellow")
            return
        go = session.run_to if by > 0 else session.reverse_to
        self._doing(lambda: go(others), lambda found: self._moved())

    def action_goto_start(self) -> None:
        self.looking.session.goto(0)
        self._moved()

    def action_goto_end(self) -> None:
        self.looking.session.goto_end()
        self._moved()

    def action_trouble(self) -> None:
        trouble = self.looking.session.goto_trouble()
        self._moved()
        if trouble is None:
            self._say("nothing is wrong with this call", "green")
        else:
            self._answer(trouble.says)

    def action_again(self, by: int) -> None:
        if "run" not in self._last:
            self._say("nothing was looked for yet: / asks what", "yellow")
        else:
            self._run(self._last["run"], by)

    def action_kind(self) -> None:
        self.looking.next_kind()
        self._paint()

    def action_core(self) -> None:
        self.looking.next_core()
        self._paint()

    def action_order(self) -> None:
        self.looking.by_address = not self.looking.by_address
        self._paint()

    def action_registers(self) -> None:
        self.looking.has_all_registers = not self.looking.has_all_registers
        self._paint()

    def action_zoom(self) -> None:
        self.screen.toggle_class("-zoom")
        self.call_after_refresh(self._paint)

    def action_dark(self) -> None:
        self.theme = "textual-light" if self.theme == "textual-dark" else "textual-dark"

    def action_help(self) -> None:
        self.push_screen(Help())

    def action_part(self, number: int) -> None:
        self._part = PARTS[number - 1]
        self._choose_parts()
        self.query_one(f"#{self._part}").focus()

    def _choose_parts(self) -> None:
        """Show the part that is chosen, and where there is room the registers too."""
        titles = "  ".join(
            f"\\[{n} {name}]" if name == self._part else f"{n} {name}" for n, name in enumerate(PARTS, 1)
        )
        for name in PARTS:
            part = self.query_one(f"#{name}")
            part.display = name == self._part or (name == "registers" and self.size.width >= _WIDE)
            part.border_title = titles if name == self._part else name
        self.call_after_refresh(self._paint)

    def on_tree_node_selected(self, event: Tree.NodeSelected[WhyStep | None]) -> None:
        if event.node.data is not None and self._doings is None:
            self.looking.session.goto(event.node.data.number + 1)
            self._moved()

    # Questions

    def action_ask(self, question: str) -> None:
        self._question = question
        line = self.query_one(Input)
        line.value = ""
        last = self._last.get(question, "")
        line.placeholder = f"{_QUESTIONS[question]}: {last}" if last else f"{_QUESTIONS[question]}?"
        line.border_title = line.border_subtitle = ""
        self.query_one("#keys").display = False
        line.display = True
        line.focus()

    def action_leave_question(self) -> None:
        if self._doings is not None:
            self.looking.session.timeline.interrupted.set()
            return
        line = self.query_one(Input)
        if line.display:
            line.display = False
            self.query_one("#keys").display = True
            self.query_one(f"#{self._part}").focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        text, question = event.value.strip() or self._last.get(self._question, ""), self._question
        self.action_leave_question()
        if text:
            self._last[question] = text
        self._answer_to(question, text)

    def _answer_to(self, question: str, text: str) -> None:
        looking, session = self.looking, self.looking.session

        def choose_kind(kind: LaneKind) -> None:
            looking.lanes = kind
            self._paint()

        def choose_memory(_: object) -> None:
            looking.memory = text
            self.action_part(1 + PARTS.index("memory"))

        def show_way(way: LaneWay) -> None:
            self._show_way(way)
            self.action_part(1 + PARTS.index("why"))

        def show_answer(answer: str) -> None:
            self._moved()
            self._answer(answer)

        match question:
            case "goto":
                self._doing(lambda: self._commands.answer(f"goto {text or 0}"), lambda answer: self._moved())
            case "run":
                self._run(text, 1)
            case "why" | "slice":
                ask = session.why if question == "why" else session.slice
                self._doing(lambda: ask(text), show_way)
            case "type":
                self._doing(lambda: LaneKind.read(text), choose_kind)
            case "memory":
                named = text in (ALL, *session.arrays)
                self._doing(lambda: None if named else address_of(looking, text), choose_memory)
            case _:
                self._doing(lambda: self._commands.answer(text), show_answer)

    def _run(self, text: str, by: int) -> None:
        session = self.looking.session

        def moved(found: int | None) -> None:
            self._moved()
            if found is None:
                self._say(
                    "none from there on: this is the end" if by > 0 else "none before: this is the start", "yellow"
                )

        go = session.run_to if by > 0 else session.reverse_to
        self._doing(lambda: go(text), moved)

    def _answer(self, text: str) -> None:
        self.query_one("#answers", Part).paint(Text(plain_lines(text)), 0)
        self.action_part(1 + PARTS.index("answers"))


def plain_lines(text: str) -> str:
    """A text of several lines, of which nothing is obeyed."""
    return "\n".join(map(plain, text.splitlines()))
