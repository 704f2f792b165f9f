\set n random(1, :users)
\set count :count + 1
begin;
select key_hash, body_hash, state, claimed_at, created_at, status, content_type, reply from idempotency_key
where caller = 'auth' and route = 'POST /internal/credits/spend' and key_hash in (@digest()@);
update ledger_account set balance = balance + -1, posting_count = posting_count + 1,
  lifetime_earned = lifetime_earned + 0, lifetime_spent = lifetime_spent + 1
where id = @user(:n)@ and balance >= 1 and not exists (select 1 from ledger_operation
  where caller = 'auth' and idempotency_key = null)
returning balance, posting_count, is_welcomed \gset
insert into ledger_operation
  (id, type, description, reference_id, reference_type, caller, idempotency_key, created_at)
values (@unique()@, 'generation', 'A scene', null, null, 'auth', null, now());
insert into ledger_posting (operation_id, account_id, amount, balance_after, position)
values (@unique()@, @user(:n)@, -1, :balance, :posting_count), (@unique()@, 'revenue', 1, null, null);
insert into idempotency_key
  (caller, route, key_hash, body_hash, state, claimed_at, created_at, status, content_type, reply)
values ('auth', 'POST /internal/credits/spend', @digest()@, @digest()@, 'done', now(), now(), 200,
  'application/json', @bytes(160)@);
commit;
