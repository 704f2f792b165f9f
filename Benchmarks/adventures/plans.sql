\set n random(1, :users)
select sized.c0, sized.c1, case when sized.bytes <= 65536 then sized.c2 end as c2,
  case when sized.bytes <= 65536 then sized.c3 end as c3, case when sized.bytes <= 65536 then sized.c4 end as c4,
  case when sized.bytes <= 65536 then sized.c5 end as c5, case when sized.bytes <= 65536 then sized.c6 end as c6,
  sized.c7, sized.c8, case when sized.bytes > 65536 then 1 else 0 end as is_over
from (
  select page.*, sum(page.size) over (rows unbounded preceding) as bytes from (
    select t0.id as c0, t0.user_id as c1, t0.title as c2, t0.description as c3, t0.stops as c4, t0.route_data as c5,
      t0.status as c6, t0.created_at as c7, t0.updated_at as c8,
      coalesce(octet_length((t0.title)::text), 0) + coalesce(octet_length((t0.description)::text), 0)
        + coalesce(octet_length((t0.stops)::text), 0) + coalesce(octet_length((t0.route_data)::text), 0)
        + coalesce(octet_length((t0.status)::text), 0) as size
    from adventure_plan t0 where (t0.user_id = @user(:n)@) and (t0.user_id = @user(:n)@)
    order by t0.id limit 101) page) sized
where sized.bytes - sized.size <= 65536;
