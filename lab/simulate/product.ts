// What the simulation uses of the product. Each simulated process has a copy of all of it.

export { buildApp } from '../../server/app.ts';
export { openCatalog } from '../../server/catalog/open-catalog.ts';
export { openLeases } from '../../server/catalog/open-leases.ts';
export { openUsage } from '../../server/catalog/open-usage.ts';
export { poolOf } from '../../server/catalog/postgres/pool.ts';
export { VersionReader } from '../../server/catalog/postgres/version.ts';
export { SCHEMA_VERSION } from '../../server/catalog/schema.ts';
export { NEVER_SYNCED, putSyncProject, readSyncProject } from '../../server/catalog/sync-projects.ts';
export { Engine } from '../../server/facts/duckdb/engine.ts';
export { SYSTEM_CLOCK } from '../../server/jobs/clock.ts';
export { JobRunner } from '../../server/jobs/job-runner.ts';
export { JobStates } from '../../server/jobs/job-states.ts';
export { JOBS } from '../../server/jobs/jobs.ts';
export { loadSnapshot } from '../../server/load/load.ts';
export { createKey } from '../../server/operations/keys.ts';
export { addKeywords } from '../../server/projects/keywords.ts';
export { setConnection } from '../../server/providers/connections.ts';
export { readSettings } from '../../server/settings/settings.ts';
export { openFileStore } from '../../server/storage/open-file-store.ts';
