data {
  int n;
  vector[n] y;
}
parameters {
  real<lower=0> omega;
  real<lower=0, upper=1> a;
  real<lower=0, upper=1> b;
}
model {
  vector[n] volatility;
  volatility[1] = 1;
  for (t in 2:n) {
    volatility[t] = sqrt(omega + a * square(y[t - 1]) + b * (1 - a) * square(volatility[t - 1]));
  }
  omega ~ normal(0, 1);
  a ~ beta(2, 5);
  b ~ beta(2, 5);
  y ~ normal(0, volatility);
}
