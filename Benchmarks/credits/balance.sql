\set n random(1, :users)
select balance, held, debt, lifetime_earned, lifetime_spent, is_welcomed, lots_expire_at from ledger_account
where id = @user(:n)@;
