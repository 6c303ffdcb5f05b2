// `quantized_add` with its settings on AXI4-Lite, its operands and its results on AXI4-Stream.
// Written by axi_wrappers.py.  The mark of the last beat goes with its beat.
// error_o: a write was refused, see STATUS in REGISTERS.md.
//
//   s_axis_tdata from bit 0: a_i, Lanes numbers of 8 bits
//   s_axis_tdata from bit 8*Lanes: b_i, Lanes numbers of 8 bits
//   m_axis_tdata from bit 0: result_o, Lanes numbers of 8 bits

module axi_quantized_add #(
  parameter int Lanes = 4,
  parameter bit Deep = 1'b0,
  parameter int Depth = Deep ? lanewise_pkg::QuantizedAddDeep : lanewise_pkg::QuantizedAddShallow
) (
  input  logic aclk,
  input  logic aresetn,
  output logic error_o,
  input  logic [15:0] s_axil_awaddr,
  input  logic s_axil_awvalid,
  output logic s_axil_awready,
  input  logic [31:0] s_axil_wdata,
  input  logic [3:0] s_axil_wstrb,
  input  logic s_axil_wvalid,
  output logic s_axil_wready,
  output logic [1:0] s_axil_bresp,
  output logic s_axil_bvalid,
  input  logic s_axil_bready,
  input  logic [15:0] s_axil_araddr,
  input  logic s_axil_arvalid,
  output logic s_axil_arready,
  output logic [31:0] s_axil_rdata,
  output logic [1:0] s_axil_rresp,
  output logic s_axil_rvalid,
  input  logic s_axil_rready,
  input  logic s_axis_tvalid,
  output logic s_axis_tready,
  input  logic s_axis_tlast,
  input  logic [(8*Lanes + 8*Lanes)-1:0] s_axis_tdata,
  output logic m_axis_tvalid,
  input  logic m_axis_tready,
  output logic m_axis_tlast,
  output logic [8*Lanes-1:0] m_axis_tdata
);

  logic write;
  logic [15:0] address;
  logic [31:0] data;
  logic [31:0] read_data;
  logic config_signed;
  logic [31:0] config_a_offset;
  logic [31:0] config_b_offset;
  logic [4:0] config_left_shift;
  logic [31:0] config_a_multiplier;
  logic [4:0] config_a_shift;
  logic [31:0] config_b_multiplier;
  logic [4:0] config_b_shift;
  logic [31:0] config_multiplier;
  logic [4:0] config_shift;
  logic [31:0] config_offset;
  logic [7:0] config_minimum;
  logic [7:0] config_maximum;

  axi_lite_registers u_axi_lite_registers (
    .clk_i         (aclk),
    .rst_ni        (aresetn),
    .s_axil_awaddr (s_axil_awaddr),
    .s_axil_awvalid(s_axil_awvalid),
    .s_axil_awready(s_axil_awready),
    .s_axil_wdata  (s_axil_wdata),
    .s_axil_wstrb  (s_axil_wstrb),
    .s_axil_wvalid (s_axil_wvalid),
    .s_axil_wready (s_axil_wready),
    .s_axil_bresp  (s_axil_bresp),
    .s_axil_bvalid (s_axil_bvalid),
    .s_axil_bready (s_axil_bready),
    .s_axil_araddr (s_axil_araddr),
    .s_axil_arvalid(s_axil_arvalid),
    .s_axil_arready(s_axil_arready),
    .s_axil_rdata  (s_axil_rdata),
    .s_axil_rresp  (s_axil_rresp),
    .s_axil_rvalid (s_axil_rvalid),
    .s_axil_rready (s_axil_rready),
    .write_o       (write),
    .address_o     (address),
    .data_o        (data),
    .read_data_i   (read_data)
  );

  // verilator lint_off PINCONNECTEMPTY
  // The settings of other units.
  config_registers u_config_registers (
    .clk_i          (aclk),
    .rst_ni         (aresetn),
    .write_i        (write),
    .address_i      (address),
    .data_i         (data),
    .read_data_o    (read_data),
    .error_o        (error_o),
    .multiplier_o   (config_multiplier),
    .shift_o        (config_shift),
    .offset_o       (config_offset),
    .minimum_o      (config_minimum),
    .maximum_o      (config_maximum),
    .signed_o       (config_signed),
    .a_offset_o     (config_a_offset),
    .b_offset_o     (config_b_offset),
    .constant_o     (),
    .destination_o  (),
    .width_o        (),
    .height_o       (),
    .element_o      (),
    .zero_tail_o    (),
    .left_shift_o   (config_left_shift),
    .a_multiplier_o (config_a_multiplier),
    .a_shift_o      (config_a_shift),
    .b_multiplier_o (config_b_multiplier),
    .b_shift_o      (config_b_shift),
    .channels_o     (),
    .rounding_o     (),
    .unfused_o      (),
    .image_width_o  (),
    .image_height_o (),
    .pixel_words_o  (),
    .out_width_o    (),
    .window_width_o (),
    .window_height_o(),
    .stride_x_o     (),
    .stride_y_o     (),
    .left_o         (),
    .top_o          (),
    .windows_o      (),
    .table_restart_o(),
    .table_write_o  (),
    .table_channel_o(),
    .table_field_o  (),
    .table_data_o   ()
  );
  // verilator lint_on PINCONNECTEMPTY

  quantized_add #(
    .Lanes(Lanes),
    .Depth(Depth)
  ) u_quantized_add (
    .clk_i         (aclk),
    .rst_ni        (aresetn),
    .valid_i       (s_axis_tvalid),
    .ready_o       (s_axis_tready),
    .valid_o       (m_axis_tvalid),
    .ready_i       (m_axis_tready),
    .a_i           (s_axis_tdata[0 +: 8*Lanes]),
    .b_i           (s_axis_tdata[8*Lanes +: 8*Lanes]),
    .signed_i      (config_signed),
    .a_offset_i    (config_a_offset),
    .b_offset_i    (config_b_offset),
    .left_shift_i  (config_left_shift),
    .a_multiplier_i(config_a_multiplier),
    .a_shift_i     (config_a_shift),
    .b_multiplier_i(config_b_multiplier),
    .b_shift_i     (config_b_shift),
    .multiplier_i  (config_multiplier),
    .shift_i       (config_shift),
    .offset_i      (config_offset),
    .minimum_i     (config_minimum),
    .maximum_i     (config_maximum),
    .result_o      (m_axis_tdata[0 +: 8*Lanes])
  );

  // All stages of the unit move when it is ready, and so does the mark.
  delay_line #(
    .Width(1),
    .Depth(Depth)
  ) u_last (
    .clk_i   (aclk),
    .enable_i(s_axis_tready),
    .data_i  (s_axis_tlast),
    .data_o  (m_axis_tlast)
  );

endmodule
