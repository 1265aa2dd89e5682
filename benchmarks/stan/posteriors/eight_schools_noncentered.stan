data { int J; array[J] real y; array[J] real sigma; }
parameters { real mu; real<lower=0> tau; vector[J] raw; }
model {
  mu ~ normal(0, 5);
  tau ~ cauchy(0, 5);
  raw ~ std_normal();
  y ~ normal(mu + tau * raw, sigma);
}
