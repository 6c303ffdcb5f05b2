"""What PyTorch's quantized operators compute on a processor, by fbgemm, oneDNN, QNNPACK and its own loops."""
