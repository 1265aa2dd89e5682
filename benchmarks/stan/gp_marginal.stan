data {
  int n;
  array[n] real x;
  vector[n] y;
}
parameters {
  real<lower=0> length;
  real<lower=0> height;
  real<lower=0> noise;
}
model {
  matrix[n, n] k = gp_matern52_cov(x, height, length);
  k = add_diag(k, square(noise) + 1e-6);
  length ~ gamma(2, 2);
  height ~ normal(0, 2);
  noise ~ normal(0, 1);
  y ~ multi_normal_cholesky(rep_vector(0, n), cholesky_decompose(k));
}
