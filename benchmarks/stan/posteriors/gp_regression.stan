data { int N; array[N] real x; vector[N] y; }
parameters { real<lower=0> rho; real<lower=0> alpha; real<lower=0> sigma; }
model {
  matrix[N, N] cov = gp_exp_quad_cov(x, alpha, rho) + diag_matrix(rep_vector(sigma, N));
  rho ~ gamma(25, 4);
  alpha ~ normal(0, 2);
  sigma ~ std_normal();
  y ~ multi_normal_cholesky(rep_vector(0, N), cholesky_decompose(cov));
}
