/// Files of `/storage/v1`, how many each user has, and files in the storage that are to be deleted. A file is in
/// `discarded_file` while it is being stored, until the transaction that names it in `stored_object`.
let storedObjectTables = """
  create table stored_object (
    id uuid primary key,
    bucket text not null,
    path text not null,
    owner_id uuid not null,
    file_id uuid not null,
    size_bytes bigint not null,
    size_bytes_in_all bigint not null,
    cache_seconds bigint not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint stored_object_bucket check (bucket in ('photos', 'avatars'))
  );
  create unique index stored_object_path on stored_object (bucket, path);
  create index stored_object_owner on stored_object (owner_id, bucket, path);

  create table stored_object_use (
    owner_id uuid primary key,
    object_count bigint not null,
    size_bytes bigint not null
  );

  create table discarded_file (
    file_id uuid primary key,
    delete_at timestamptz not null
  );
  create index discarded_file_due on discarded_file (delete_at);

  """
