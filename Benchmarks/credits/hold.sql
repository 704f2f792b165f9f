\set n random(1, :users)
\set count :count + 1
begin;
update ledger_account set held = held + 2
where id = @user(:n)@ and balance - held >= 2 and (lots_expire_at is null or lots_expire_at > now())
  and not exists (select 1 from credit_hold where caller = 'auth' and idempotency_key = @serial()@::text)
returning balance, held, debt, posting_count, is_welcomed \gset
insert into credit_hold (id, account_id, amount, type, description, reference_id, reference_type, caller,
  idempotency_key, created_at, expires_at, opened_balance, opened_held)
values (@serial()@, @user(:n)@, 2, 'generation', null, null, null, 'auth', @serial()@::text, now(),
  now() + interval '600 seconds', :balance, :held);
insert into credit_hold_lot (hold_id, lot_id, amount)
select @serial()@, operation_id, case when free < 2 - before then free else 2 - before end
from (
  select operation_id, free,
    cast(sum(free) over (order by expires_at nulls last, position) as bigint) - free as before
  from (
    select operation_id, position, expires_at, remaining - held as free from credit_lot
    where account_id = @user(:n)@ and is_open and remaining > held
    order by expires_at nulls last, position limit 2) candidate
) lot where before < 2;
update credit_lot set held = credit_lot.held + reserved.amount from credit_hold_lot reserved
where reserved.hold_id = @serial()@ and credit_lot.operation_id = reserved.lot_id;
commit;
begin;
update credit_hold set state = 'captured', captured = coalesce(null, amount), settled_at = now()
where id = @serial()@ and state = 'open' and case when expires_at > now() then 1 else 0 end = 1
  and amount >= coalesce(null, amount)
returning id, account_id, amount, type, description, reference_id, reference_type, caller, created_at, expires_at;
update ledger_account set held = held - 2,
  balance = held - 2 + case when balance - held - debt + 0 > 0 then balance - held - debt + 0 else 0 end,
  debt = case when balance - held - debt + 0 < 0 then held + debt - balance - 0 else 0 end,
  posting_count = posting_count + 1, lifetime_spent = lifetime_spent + 2
where id = @user(:n)@ returning balance, held, debt, posting_count, is_welcomed \gset
update credit_lot set held = credit_lot.held - part.amount, remaining = credit_lot.remaining - part.captured,
  is_open = credit_lot.remaining > part.captured
from (
  select lot_id, amount, case when 2 - before > amount then amount
    when 2 > before then 2 - before else 0 end as captured
  from (
    select r.lot_id, r.amount,
      cast(sum(r.amount) over (order by l.expires_at nulls last, l.position) as bigint) - r.amount as before
    from credit_hold_lot r join credit_lot l on l.operation_id = r.lot_id where r.hold_id = @serial()@) reserved
) part where credit_lot.operation_id = part.lot_id;
update ledger_account set lots_expire_at = first.expires_at
from (
  select l.account_id, min(l.expires_at) as expires_at
  from credit_hold_lot r join credit_lot l on l.operation_id = r.lot_id and l.is_open
  where r.hold_id = @serial()@ group by l.account_id) first
where ledger_account.id = first.account_id and first.expires_at is not null
  and (lots_expire_at is null or lots_expire_at > first.expires_at);
insert into ledger_operation
  (id, type, description, reference_id, reference_type, caller, idempotency_key, hold_id, created_at)
values (@unique()@, 'generation', null, null, null, 'auth', null, @serial()@, now());
insert into ledger_posting (operation_id, account_id, amount, balance_after, position)
values (@unique()@, @user(:n)@, -2, :balance, :posting_count), (@unique()@, 'revenue', 2, null, null);
update credit_hold set settled_balance = :balance where id = @serial()@;
commit;
