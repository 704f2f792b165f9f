\set n random(1, :users)
\set count :count + 1
begin;
select key_hash, body_hash, state, claimed_at, created_at, status, content_type, reply from idempotency_key
where caller = 'auth' and route = 'POST /internal/credits/spend' and key_hash in (@digest()@);
update ledger_account set
  balance = held + case when balance - held - debt + -1 > 0 then balance - held - debt + -1 else 0 end,
  debt = case when balance - held - debt + -1 < 0 then held + debt - balance - -1 else 0 end,
  posting_count = posting_count + 1, lifetime_earned = lifetime_earned + 0, lifetime_spent = lifetime_spent + 1
where id = @user(:n)@ and balance - held >= 1 and (lots_expire_at is null or lots_expire_at > now()) and true
returning balance, held, debt, posting_count, is_welcomed \gset
insert into ledger_operation
  (id, type, description, reference_id, reference_type, caller, idempotency_key, hold_id, created_at)
values (@unique()@, 'generation', 'A scene', null, null, 'auth', null, null, now());
insert into ledger_posting (operation_id, account_id, amount, balance_after, position)
values (@unique()@, @user(:n)@, -1, :balance, :posting_count), (@unique()@, 'revenue', 1, null, null);
update credit_lot set remaining = credit_lot.remaining - taken.amount, is_open = credit_lot.remaining > taken.amount
from (
  select operation_id, case when free < 1 - before then free else 1 - before end as amount
  from (
  select operation_id, free,
    cast(sum(free) over (order by expires_at nulls last, position) as bigint) - free as before
  from (
    select operation_id, position, expires_at, remaining - held as free from credit_lot
    where account_id = @user(:n)@ and is_open and remaining > held
    order by expires_at nulls last, position limit 1) candidate
  ) lot where before < 1
) taken where credit_lot.operation_id = taken.operation_id;
insert into idempotency_key
  (caller, route, key_hash, body_hash, state, claimed_at, created_at, status, content_type, reply)
values ('auth', 'POST /internal/credits/spend', @digest()@, @digest()@, 'done', now(), now(), 200,
  'application/json', @bytes(160)@);
commit;
