// The latencies of the pipelines and the addresses of the configuration registers, for the hardware and for Python.
//
// A latency is the number of register stages: of rising edges from the one that accepts a beat to the one after which
// its result is on the outputs, when nothing stalls.  Python reads lines of the form `localparam <type> <name> =
// <sum of numbers and names>;`.

// verilator lint_off UNUSEDPARAM
// No module uses all of them.

package lanewise_pkg;

  // Parts of one lane.  Where a name ends in Multiplied, multipliers alone are deep; Shifted, what follows them too;
  // Bounded, the bounds too.  Each is a depth that its module can have, as Shallow and Deep are.
  localparam int MultiplyHighShallow    = 1;  // product, rounded
  localparam int MultiplyHighDeep       = 4;  // factors | tiles | two sums | sum
  localparam int RescaleShallow         = MultiplyHighShallow + 1;  // divided
  localparam int RescaleMultiplied      = MultiplyHighDeep + 1;
  localparam int RescaleDeep            = MultiplyHighDeep + 3;  // fixed up | shifted | rounded
  localparam int ScaleRoundedShallow    = MultiplyHighShallow + 1;  // rounded
  localparam int ScaleRoundedMultiplied = MultiplyHighDeep + 1;
  localparam int ScaleRoundedDeep       = MultiplyHighDeep + 3;  // number | shifted | rounded
  localparam int MultiplyLowShallow     = 1;  // product
  localparam int MultiplyLowDeep        = 2;  // tiles | sum
  localparam int ShiftRoundedShallow    = 1;  // shifted, rounded
  localparam int ShiftRoundedDeep       = 3;  // fixed up | shifted | rounded
  localparam int ClampToByteShallow     = 1;  // clamped
  localparam int ClampToByteDeep        = 2;  // compared | clamped
  localparam int OutputStagesShallow    = ClampToByteShallow;  // with the offset
  localparam int OutputStagesDeep       = 1 + ClampToByteDeep;
  localparam int PlaceByteShallow       = 1;  // shifted
  localparam int PlaceByteDeep          = 2;  // sum | shifted
  localparam int FmlaByteShallow        = 2;  // sum | rounded
  localparam int FmlaByteDeep           = 11;  // factors | product | placed | sum | magnitude | four of moves | unrounded | rounded
  localparam int AddScaledByteShallow   = FmlaByteShallow + FmlaByteShallow;
  localparam int AddScaledByteDeep      = FmlaByteDeep + FmlaByteDeep;
  localparam int FloatToByteShallow     = 1;  // rounded
  localparam int FloatToByteDeep        = 2;  // at its places | rounded

  // Units: the depths of each, in ascending order.
  localparam int QuantizeDownShallow            = 1 + RescaleShallow + OutputStagesShallow;
  localparam int QuantizeDownMultiplied         = 1 + RescaleMultiplied + OutputStagesShallow;
  localparam int QuantizeDownShifted            = 1 + RescaleDeep + OutputStagesShallow;
  localparam int QuantizeDownDeep               = 1 + RescaleDeep + OutputStagesDeep;
  localparam int QuantizeDownChannelsShallow    = QuantizeDownShallow;
  localparam int QuantizeDownChannelsMultiplied = QuantizeDownMultiplied;
  localparam int QuantizeDownChannelsShifted    = QuantizeDownShifted;
  localparam int QuantizeDownChannelsDeep       = QuantizeDownDeep;
  localparam int OffsetContributionShallow      = MultiplyLowShallow + 1;
  localparam int OffsetContributionMultiplied   = MultiplyLowDeep + 1;
  localparam int OffsetContributionDeep         = MultiplyLowDeep + 2;
  localparam int Transpose1xwShallow            = 1;
  localparam int Transpose1xwDeep               = 2;
  localparam int QuantizedAddShallow            = PlaceByteShallow + RescaleShallow + 1 + RescaleShallow + OutputStagesShallow;
  localparam int QuantizedAddMultiplied         = PlaceByteShallow + RescaleMultiplied + 1 + RescaleMultiplied + OutputStagesShallow;
  localparam int QuantizedAddShifted            = PlaceByteShallow + RescaleDeep + 1 + RescaleDeep + OutputStagesShallow;
  localparam int QuantizedAddBounded            = PlaceByteShallow + RescaleDeep + 1 + RescaleDeep + OutputStagesDeep;
  localparam int QuantizedAddDeep               = PlaceByteDeep + RescaleDeep + 1 + RescaleDeep + OutputStagesDeep;
  localparam int QuantizedAddFloatShallow       = AddScaledByteShallow + AddScaledByteShallow + FloatToByteShallow;
  localparam int QuantizedAddFloatDeep          = AddScaledByteDeep + AddScaledByteDeep + FloatToByteDeep;
  localparam int RequantizeShallow              = 1 + ScaleRoundedShallow + OutputStagesShallow;
  localparam int RequantizeMultiplied           = 1 + ScaleRoundedMultiplied + OutputStagesShallow;
  localparam int RequantizeShifted              = 1 + ScaleRoundedDeep + OutputStagesShallow;
  localparam int RequantizeBounded              = 1 + ScaleRoundedDeep + OutputStagesDeep;
  localparam int RequantizeDeep                 = 2 + ScaleRoundedDeep + OutputStagesDeep;
  localparam int QuantizedMultiplierShallow     = 1 + ScaleRoundedShallow;
  localparam int QuantizedMultiplierMultiplied  = 1 + ScaleRoundedMultiplied;
  localparam int QuantizedMultiplierDeep        = 1 + ScaleRoundedDeep;
  localparam int IntegerScaleShallow            = 1 + MultiplyLowShallow + ShiftRoundedShallow + ClampToByteShallow;
  localparam int IntegerScaleMultiplied         = 1 + MultiplyLowDeep + ShiftRoundedShallow + ClampToByteShallow;
  localparam int IntegerScaleShifted            = 1 + MultiplyLowDeep + ShiftRoundedDeep + ClampToByteShallow;
  localparam int IntegerScaleDeep               = 1 + MultiplyLowDeep + ShiftRoundedDeep + ClampToByteDeep;
  localparam int Interleave4x4Shallow           = 1;
  localparam int Interleave4x4Deep              = 2;

  // Configuration registers: byte addresses.
  localparam logic [15:0] AddressStatus      = 16'h0000;
  localparam logic [15:0] AddressMultiplier  = 16'h0004;
  localparam logic [15:0] AddressShift       = 16'h0008;
  localparam logic [15:0] AddressOffset      = 16'h000C;
  localparam logic [15:0] AddressBounds      = 16'h0010;
  localparam logic [15:0] AddressAOffset     = 16'h0014;
  localparam logic [15:0] AddressBOffset     = 16'h0018;
  localparam logic [15:0] AddressConstant    = 16'h001C;
  localparam logic [15:0] AddressDestination = 16'h0020;
  localparam logic [15:0] AddressSize        = 16'h0024;
  localparam logic [15:0] AddressElement     = 16'h0028;
  localparam logic [15:0] AddressLeftShift   = 16'h002C;
  localparam logic [15:0] AddressAMultiplier = 16'h0030;
  localparam logic [15:0] AddressAShift      = 16'h0034;
  localparam logic [15:0] AddressBMultiplier = 16'h0038;
  localparam logic [15:0] AddressBShift      = 16'h003C;
  localparam logic [15:0] AddressChannels    = 16'h0040;
  localparam logic [15:0] AddressRounding    = 16'h0044;
  localparam logic [15:0] AddressImage       = 16'h0048;
  localparam logic [15:0] AddressPixels      = 16'h004C;
  localparam logic [15:0] AddressWindow      = 16'h0050;
  localparam logic [15:0] AddressTables      = 16'h1000;  // 16 bytes a channel: bias, multiplier, shift, left shift

endpackage

// verilator lint_on UNUSEDPARAM
