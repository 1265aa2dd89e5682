data {
  int N; int J;
  array[N] int county_idx;
  vector[N] log_uppm; vector[N] floor_measure; vector[N] log_radon;
}
parameters {
  vector[J] alpha; vector[2] beta; real mu; real<lower=0> scale; real<lower=0> sigma;
}
model {
  beta ~ normal(0, 10);
  mu ~ normal(0, 10);
  scale ~ std_normal();
  sigma ~ std_normal();
  alpha ~ normal(mu, scale);
  log_radon ~ normal(alpha[county_idx] + log_uppm * beta[1] + floor_measure * beta[2], sigma);
}
