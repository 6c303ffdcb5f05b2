"""Functions of numbers as rules: logistic and its like, hard swish, ReLUs with slopes, softmax, L2 normalization."""
