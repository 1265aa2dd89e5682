data { int N; vector[N] dist; vector[N] arsenic; array[N] int switched; }
transformed data {
  matrix[N, 4] x;
  x[:, 1] = rep_vector(1, N);
  x[:, 2] = (dist - mean(dist)) / 100;
  x[:, 3] = arsenic - mean(arsenic);
  x[:, 4] = x[:, 2] .* x[:, 3];
}
parameters { vector[4] beta; }
model { switched ~ bernoulli_logit_glm(x, 0, beta); }
