\set n random(1, :users)
\set count :count + 1
begin;
select pg_advisory_xact_lock(hashtextextended(:n::text, 0));
insert into saved_place as t0 (id, user_id, name, address, latitude, longitude, category, created_at, updated_at)
values (@unique()@, @user(:n)@, 'A place', '1 Street', 48.2, 16.4, 'cafe', now(), now()) returning id;
select count(*) as total from saved_place t0 where t0.id = @unique()@ and (t0.user_id = @user(:n)@);
select count(*) as total from saved_place t0 where t0.user_id = @user(:n)@;
select t0.id as key, t0.id as c0, t0.user_id as c1, t0.name as c2, t0.address as c3, t0.latitude as c4,
  t0.longitude as c5, t0.category as c6, (t0.category) as c7, t0.created_at as c8, t0.updated_at as c9
from saved_place t0 where t0.id = @unique()@ and (t0.user_id = @user(:n)@)
order by t0.id limit 1000;
commit;
