\set n random(1, :users)
\set count :count + 1
select key_hash, body_hash, state, claimed_at, status, content_type, reply from idempotency_key
where caller = 'service:auth' and route = 'POST /internal/credits/spend' and key_hash in (@digest()@)
  and created_at > now() - interval '1 day';
select balance, lifetime_earned, lifetime_spent, is_welcomed from ledger_account where id = @user(:n)@;
begin;
delete from idempotency_key where caller = 'service:auth' and route = 'POST /internal/credits/spend'
  and key_hash in (@digest()@) and (created_at <= now() - interval '1 day'
    or (state = 'claimed' and claimed_at <= now() - interval '1 minute'));
select key_hash, body_hash, state, claimed_at, status, content_type, reply from idempotency_key
where caller = 'service:auth' and route = 'POST /internal/credits/spend' and key_hash in (@digest()@)
  and created_at > now() - interval '1 day';
insert into idempotency_key (caller, route, key_hash, body_hash, state, claim, claimed_at, created_at)
values ('service:auth', 'POST /internal/credits/spend', @digest()@, @digest()@, 'claimed', null, null, now())
on conflict (caller, route, key_hash) do nothing;
update ledger_account set balance = balance + -1, posting_count = posting_count + 1,
  lifetime_earned = lifetime_earned + 0, lifetime_spent = lifetime_spent + 1
where id = @user(:n)@ and balance >= 1 returning balance, posting_count \gset
insert into ledger_operation
  (id, type, description, reference_id, reference_type, caller, idempotency_key, created_at)
values (@unique()@, 'generation', 'A scene', null, null, 'auth', null, now());
insert into ledger_posting (operation_id, account_id, amount, balance_after, position)
values (@unique()@, @user(:n)@, -1, :balance, :posting_count), (@unique()@, 'revenue', 1, null, null);
update idempotency_key set state = 'done', status = 200, content_type = 'application/json', reply = @bytes(160)@
where caller = 'service:auth' and route = 'POST /internal/credits/spend' and key_hash = @digest()@
  and state = 'claimed' and coalesce(claim, '') = '';
commit;
