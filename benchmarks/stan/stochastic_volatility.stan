data {
  int n;
  vector[n] y;
}
parameters {
  real<lower=0> step;
  real<lower=0> nu;
  vector[n] vol;
}
model {
  step ~ exponential(10);
  nu ~ exponential(0.1);
  vol[1] ~ normal(0, 1);
  vol[2:n] ~ normal(vol[1:n - 1], step);
  y ~ student_t(nu, 0, exp(vol));
}
