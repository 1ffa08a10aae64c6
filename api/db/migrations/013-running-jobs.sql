-- Which background jobs run, and which of them are past their time limit: a job that hangs shows while it does.
alter table job_state add column running_since timestamptz;
alter table job_state add column timed_out_at timestamptz;
