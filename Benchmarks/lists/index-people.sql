\set n random(1, :users)
\set next :n % :users + 1
\set m1 :users + :n * 9 - 8
\set m2 :users + :n * 9 - 7
\set m3 :users + :n * 9 - 6
\set m4 :users + :n * 9 - 5
\set m5 :users + :n * 9 - 4
\set m6 :users + :n * 9 - 3
\set m7 :users + :n * 9 - 2
\set m8 :users + :n * 9 - 1
\set m9 :users + :n * 9 - 0
begin isolation level repeatable read read only;
select list.id, list.owner_id, list.name, list.description, list.visibility, list.color, list.task_count,
  list.completed_count, list.subtask_count, list.member_count, list.revision, list.version, list.created_at,
  list.updated_at, list.text_size, list.list_type, list.has_tags, 'owner' as role,
  (select count(*) from task where task.list_id = list.id and task.parent_id is null and task.deleted_at is null
    and task.completed_at is null and task.due_at > '-infinity' and task.due_at < now()) as overdue_count
from list where owner_id = @user(:n)@ and deleted_at is null
union all
select list.id, list.owner_id, list.name, list.description, list.visibility, list.color, list.task_count,
  list.completed_count, list.subtask_count, list.member_count, list.revision, list.version, list.created_at,
  list.updated_at, list.text_size, list.list_type, list.has_tags, membership.role,
  (select count(*) from task where task.list_id = list.id and task.parent_id is null and task.deleted_at is null
    and task.completed_at is null and task.due_at > '-infinity' and task.due_at < now()) as overdue_count
from membership join list on list.id = membership.list_id
where membership.user_id = @user(:n)@ and list.deleted_at is null
order by id limit 41;
select id, list_id, user_id, role, invite_id, named_by, named_as, created_at, updated_at from membership
where list_id in (select id from (
  select id from list where owner_id = @user(:n)@ and deleted_at is null
  union all
  select joined.list_id from membership joined join list on list.id = joined.list_id
  where joined.user_id = @user(:n)@ and list.deleted_at is null) mine limit 41)
order by list_id, id;
commit;
select a.id, a.number, a.display_name, a.email, a.locale, a.time_zone,
  coalesce((select max(case when i.issuer <> 'email' or i.is_email_verified then 2 else 1 end)
    from identity i where i.account_id = a.id), 0) as proof,
  coalesce((select min(subject) from identity i
    where i.account_id = a.id and i.issuer = 'phone' and i.subject in (null)),
    (select min(subject) from identity i where i.account_id = a.id and i.issuer = 'phone')) as phone
from account a where a.deactivated_at is null and a.id in (
  select id from account where id in (@user(:n)@, @user(:next)@, @user(:m1)@, @user(:m2)@, @user(:m3)@, @user(:m4)@,
    @user(:m5)@, @user(:m6)@, @user(:m7)@, @user(:m8)@, @user(:m9)@)
  union
  select owner.id from identity join account owner on owner.id = identity.account_id
  where identity.issuer = 'phone' and identity.subject in (null) and owner.is_discoverable);
