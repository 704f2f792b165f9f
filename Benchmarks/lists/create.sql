\set n random(1, :users)
\set list (:n - 1) * :own_lists + random(1, :own_lists)
begin;
update list set revision = revision + 1
where id = :list and deleted_at is null and (owner_id = @user(:n)@
  or exists (select 1 from membership where membership.list_id = list.id and membership.user_id = @user(:n)@
    and role in ('editor')))
returning id;
select list.id, list.owner_id, list.name, list.description, list.visibility, list.color, list.task_count,
  list.completed_count, list.subtask_count, list.member_count, list.revision, list.version, list.created_at,
  list.updated_at, list.text_size, list.list_type, list.has_tags,
  case when list.owner_id = @user(:n)@ then 'owner' else membership.role end as role
from list left join membership on membership.list_id = list.id and membership.user_id = @user(:n)@
where list.id = :list and list.deleted_at is null
  and (list.owner_id = @user(:n)@ or membership.user_id is not null);
select position from task where list_id = :list and parent_id is null and deleted_at is null
order by position desc limit 1;
insert into task (list_id, parent_id, client_id, creator_id, assignee_id, title, note, words, text_size, reason_size,
  due_at, status, completed_at, missed_reason, missed_reason_submitted_at, requires_explanation, priority, starred,
  hidden, strict_mode, color, recurrence, location, previous_id, position, revision, created_at, updated_at,
  remind_at)
values (:list, null, null, @user(:n)@, null, 'A task', null, 'a task', 6, 0, null, 'pending', null, null, null, false,
  0, false, false, false, null, null, null, null, 65536, 1, now(), now(), null)
on conflict (previous_id) where previous_id is not null do nothing returning id \gset
update list set text_size = text_size + 6 where id = :list;
insert into task_event (task_id, kind, reason, user_id, original_due_at, new_due_at, occurred_at)
values (:id, 'created', null, @user(:n)@, null, null, now());
update list set task_count = task_count + 1, completed_count = completed_count + 0 where id = :list;
select task.id, task.list_id, list.name as list_name, list.color as list_color, task.parent_id, task.client_id,
  task.creator_id, task.assignee_id, task.title, task.note, task.due_at, task.status, task.completed_at,
  task.missed_reason, task.priority, task.starred, task.strict_mode, task.position, task.revision, task.created_at,
  task.updated_at, task.deleted_at, task.color, task.hidden, task.requires_explanation,
  task.missed_reason_submitted_at, task.reschedule_count, task.reason_size, task.recurrence, task.location,
  case when list.owner_id = @user(:n)@ then 'owner' else membership.role end as role
from task join list on list.id = task.list_id
  left join membership on membership.list_id = task.list_id and membership.user_id = @user(:n)@
where task.id = :id and task.deleted_at is null and list.deleted_at is null
  and (list.owner_id = @user(:n)@ or membership.user_id is not null);
select task_tag.task_id, tag.id, tag.name, tag.color from task_tag join tag on tag.id = task_tag.tag_id
where task_tag.task_id in (:id) order by tag.name_folded, tag.id;
select task.id, task.list_id, list.name as list_name, list.color as list_color, task.parent_id, task.client_id,
  task.creator_id, task.assignee_id, task.title, task.note, task.due_at, task.status, task.completed_at,
  task.missed_reason, task.priority, task.starred, task.strict_mode, task.position, task.revision, task.created_at,
  task.updated_at, task.deleted_at, task.color, task.hidden, task.requires_explanation,
  task.missed_reason_submitted_at, task.reschedule_count, task.reason_size, task.recurrence, task.location
from task join list on list.id = task.list_id
where task.parent_id in (:id) and task.deleted_at is null order by task.parent_id, task.position, task.id;
commit;
