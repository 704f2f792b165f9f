\set n random(1, :users)
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
