"""`gemm_core` with one fault each, in its own text and in that of its parts: the bench of a small one finds all."""

from __future__ import annotations

import pytest

from rtl_models.cores.gemm import GemmCore
from rtl_models.cores.gemm_run import run_gemm_core
from support.rtl_faults import planted

pytestmark = pytest.mark.rtl
SMALL = GemmCore(steps=2, channels=8, image=8)
SCENARIOS = "corners|random_layers|windows|reset_inside|what_does_not_fit|report"
FAULTS = {
    "the highest offset is refused": ("gemm_core", "? 32'sd128 : 32'sd0", "? 32'sd127 : 32'sd0"),
    "an offset too low is accepted": ("gemm_core", "-32'sd127 : -32'sd255", "-32'sd127 : -32'sd256"),
    "one step too many fits": ("gemm_core", "steps <= 16'(Steps) &&", "steps <= 16'(Steps + 1) &&"),
    "k rounded down to steps": ("gemm_core", "17'(width) + 17'd3", "17'(width) + 17'd2"),
    "the third byte counts too early": ("gemm_core", "|| width[1:0] == 2'd3, width", "|| width[1], width"),
    "the tail of k is not cut": ("gemm_core", "b_ends ? tail : '1", "'1"),
    "the tail of k in every step": ("gemm_core", "b_ends ? tail : '1", "tail"),
    "a full buffer accepts": ("gemm_core", "a_held_q != (AAddress+1)'(ADepth)", "1'b1"),
    "a buffer is full too early": ("gemm_core", "!= (AAddress+1)'(ADepth)", "< (AAddress+1)'(ADepth - 1)"),
    "a begins the next layer too early": ("gemm_core", "fits & ~a_done_q &", "fits &"),
    "b begins the next layer too early": ("gemm_core", "b_ready_o  = fits & ~b_done_q", "b_ready_o  = fits"),
    "a word is read that is not there": ("gemm_core", "16'(a_held_q) > step", "16'(a_held_q) >= step"),
    "b is waited for too long": ("gemm_core", "b_held_q > {1'b0, b_at_q}", "(b_held_q > b_at_q + 1 | b_done_q)"),
    "the block of rows stays": ("gemm_core", "a_base_q + AAddress'(steps)", "a_base_q"),
    "a block makes no room": ("gemm_core", "- (reads & pass_ends ? (AAddress+1)'(steps)", "- (finishes ? a_held_q"),
    "b is forgotten after a pass": ("gemm_core", "b_held_q <= finishes ?", "b_held_q <= reads & pass_ends ?"),
    "a step is made twice": ("gemm_core", "(moves) stepping_q <= reads;", "(moves) stepping_q <= moves;"),
    "a tile does not wait": ("gemm_core", "loads = stepping_q & ends_q & free", "loads = stepping_q & ends_q"),
    "accumulators go on while a tile waits": ("gemm_core", ".step_i (stepping_q & moves)", ".step_i (stepping_q)"),
    "the tables move with every row": ("gemm_core", "row_valid & row_ready & row_last", "row_valid & row_ready"),
    "marks do not wait": ("gemm_core", ".enable_i(row_ready)", ".enable_i(1'b1)"),
    "every tile of the last pass is the last": ("gemm_core", "final_q   <= finishes", "final_q   <= is_last_pass"),
    "a lane too few is kept": ("gemm_core", "32'd1 << columns_q", "32'd1 << (columns_q - 1)"),
    "busy until the next layer": ("gemm_core", "5'(begins) - 5'(ends)", "5'(begins) - 5'(ends & begun_q)"),
    "signed bytes are unsigned": ("offset_bytes", "signed_i & data_i[8*k+7]", "1'b0"),
    "an offset of 8 bits": ("offset_bytes", "+ offset_i;", "+ {offset_i[7], offset_i[7:0]};"),
    "no new beginning of a sum": ("mac_array", "first_i ? '0 :", "1'b0 ? '0 :"),
    "columns in the place of rows": ("mac_array", "a_i[36*(lane/Columns)", "a_i[36*(lane%Columns)"),
    "rows that are not there": ("row_stream", "left_q <= rows_i;", "left_q <= CountBits'(Rows);"),
    "a short block is a whole one": ("block_walk", "is_last_block ? CountBits", "left < 1 ? CountBits"),
    "an empty block at the end": ("block_walk", "left <= 16'(Block)", "left < 16'(Block)"),
    "one rounding shifts before its product": ("requantize", "rounding[1] ? biased[", "1'b0 ? biased["),
    "two roundings do not shift to the left": ("requantize", "rounding[1] ? biased[", "1'b1 ? biased["),
    "the left shift of one rounding is lost": ("scale_rounded", "(rounding[1] ? {1'b0, left} : 6'd0)", "6'd0"),
    "a left shift behind two roundings too": ("scale_rounded", "(rounding[1] ? {1'b0, left} : 6'd0)", "{1'b0, left}"),
    "one rounding is two": ("scale_rounded", "number_d = rounding[1] ?", "number_d = 1'b0 ?"),
    "ties go away always": ("scale_rounded", "(|right) & ~rounding[0]", "(|right)"),
    "a fix-up of what is not shifted": ("scale_rounded", "& (|right) & ~rounding[0]", "& ~rounding[0]"),
    "a shift without sign": ("scale_rounded", "$signed(number) >>> places", "number >> places"),
    "the sum with the zero point wraps": ("bounded_sum", ".value_i  (placed)", ".value_i  (value_i + offset_i)"),
    "the left shift of another channel": ("channel_tables", "= left_shift_q[address]", "= left_shift_q['0]"),
    "left shifts are those to the right": ("channel_tables", "write && field_i == 2'd3", "write && field_i == 2'd2"),
    "reading waits for nothing": ("tile_buffer", "if (read_i) data_q", "data_q"),
    "an image of other settings is there": ("window_stream", "fits_o && held_q == beats", "held_q == beats"),
    "an image too large fits": ("window_stream", "words <= 32'(Image)", "words <= 32'(Image + 4)"),
    "the last beat of an image is lost": ("window_stream", "(words + 32'd3) >> 2", "words >> 2"),
    "windows of the layer before": ("window_stream", "(valid_q & ~ready_i)) & ~clear_i", "(valid_q & ~ready_i))"),
    "outside there are zeros": ("window_stream", "{4{zero_i}}", "'0"),
    "the word is the next one's": ("window_stream", "if (reads) word_q[", "word_q["),
    "the row below the image is inside": ("window_walk", "y < 21'(image_height_i)", "y <= 21'(image_height_i)"),
    "rows are as long as the image": ("window_walk", "out_width_i - 12'd1", "image_width_i - 12'd1"),
    "strides are mixed up": ("window_walk", "32'(stride_y_i) * 32'(line)", "32'(stride_x_i) * 32'(line)"),
    "windows begin in the image": ("window_walk", "+ tap_q - padding", "+ tap_q"),
    "a window of other bytes fits": ("gemm_core", "(has_room & is_window)", "has_room"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found(name: str) -> None:
    outcome = run_gemm_core(SMALL, before=[planted(*FAULTS[name])], scenarios=SCENARIOS)
    assert any(outcome.tests.values()), outcome.told()
