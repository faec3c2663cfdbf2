/** Steps from nothing to the present form, each run once; a store of a later form is refused. */
export const MIGRATIONS: readonly string[] = [
  `
create table rows (
  key bytea primary key,
  value bytea not null,
  version bigint not null,
  expires_at double precision
);
create index rows_expiry on rows (expires_at) where expires_at is not null;
create sequence versions;
create table pings (id int primary key, at double precision not null);

-- Keys share 4,096 locks, taken in order, so that commits on other keys go on and none waits in a circle.
create function lock_keys(all_keys bytea[]) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtext(current_schema()), bucket)
  from (
    select distinct hashtext(encode(key, 'hex')) & 4095 as bucket
    from unnest(all_keys) as key order by bucket
  ) as buckets;
end $$;

create function commit_rows(
  kinds text[], keys bytea[], conditions text[], expiries double precision[], envelopes bytea[],
  instant double precision
) returns table (failed int, stamp bigint) language plpgsql as $$
declare
  present bigint;
  given bigint;
begin
  perform lock_keys(keys);
  for i in 1 .. coalesce(array_length(keys, 1), 0) loop
    if conditions[i] <> '' then
      select r.version into present from rows r
      where r.key = keys[i] and (r.expires_at is null or r.expires_at > instant);
      if (conditions[i] = 'absent') <> (present is null)
        or (conditions[i] <> 'absent' and conditions[i] <> '=' || present) then
        return query select i - 1, null::bigint;
        return;
      end if;
    end if;
  end loop;
  given := nextval('versions');
  insert into rows (key, value, version, expires_at)
    select k, e, given, nullif(x, 'Infinity')
    from unnest(kinds, keys, envelopes, expiries) as op (kind, k, e, x) where kind = 'put'
    on conflict (key) do update
    set value = excluded.value, version = excluded.version, expires_at = excluded.expires_at;
  delete from rows r using unnest(kinds, keys) as op (kind, k) where op.kind = 'delete' and r.key = op.k;
  return query select null::int, given;
end $$;

create function increment_row(
  counter bytea, step double precision, expiry double precision, instant double precision
) returns double precision language plpgsql as $$
declare
  present rows%rowtype;
  text_value text;
  total double precision;
begin
  perform lock_keys(array[counter]);
  select * into present from rows r
  where r.key = counter and (r.expires_at is null or r.expires_at > instant);
  if present.key is null then
    total := step;
    present.expires_at := nullif(expiry, 'Infinity');
  else
    if get_byte(present.value, 0) <> ascii('j') then return null; end if;
    text_value := convert_from(substring(present.value from 2), 'UTF8');
    if text_value !~ '^-?[0-9][0-9.eE+-]*$' then return null; end if;
    begin
      total := text_value::double precision + step;
    exception when numeric_value_out_of_range then
      return null;
    end;
  end if;
  insert into rows (key, value, version, expires_at)
    values (counter, convert_to('j' || total, 'UTF8'), nextval('versions'), present.expires_at)
    on conflict (key) do update
    set value = excluded.value, version = excluded.version, expires_at = excluded.expires_at;
  return total;
end $$;
`,
  `
create table meta (name text primary key, value text not null);
insert into meta values ('identity', gen_random_uuid());
`,
];
