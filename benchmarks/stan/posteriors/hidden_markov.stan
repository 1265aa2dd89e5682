data { int N; vector[N] y; }
parameters { vector<lower=0, upper=1>[2] stays; positive_ordered[2] mu; }
model {
  vector[2] alpha;
  vector[2] before;
  vector[2] to_first = [log(stays[1]), log1m(stays[2])]';
  vector[2] to_second = [log1m(stays[1]), log(stays[2])]';
  mu[1] ~ normal(3, 1);
  mu[2] ~ normal(10, 1);
  for (k in 1:2) alpha[k] = normal_lupdf(y[1] | mu[k], 1);
  for (t in 2:N) {
    before = alpha;
    alpha[1] = log_sum_exp(before + to_first) + normal_lupdf(y[t] | mu[1], 1);
    alpha[2] = log_sum_exp(before + to_second) + normal_lupdf(y[t] | mu[2], 1);
  }
  target += log_sum_exp(alpha);
}
