\set n random(1, :users)
select t0.id as c0, t0.user_id as c1, t0.title as c2, t0.description as c3, t0.stops as c4, t0.route_data as c5,
  t0.status as c6, t0.created_at as c7, t0.updated_at as c8
from adventure_plan t0 where (t0.user_id = @user(:n)@) and (t0.user_id = @user(:n)@)
order by t0.id limit 1000 offset 0;
