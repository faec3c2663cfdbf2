// The queries of every page where there are a million records, on each store.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startForwarder } from '../forwarder.js';
import { percentile } from '../load.js';
import { startServer } from '../processes.js';
import { startDatabases, storeOf } from '../stores.js';
import { fillRecords } from './fill.js';
import { judgeQueries } from './goals.js';

const DAYS = 30;
const DAY_MS = 86_400_000;
const TIMES = 15;
const SCOPES = [
  'inference',
  'models',
  'run',
  'agents',
  'sessions',
  'endpoints',
  'deployments',
].concat(['account', 'admin']);

export async function measureQueries({ root, directory, records }) {
  const upstream = await startServer([fileURLToPath(new URL('../upstream.js', import.meta.url))]);
  const databases = await startDatabases();
  const rows = {};
  try {
    const lmdb = { driver: 'lmdb', store: { driver: 'lmdb', path: join(directory, 'queries') } };
    for (const { driver, store } of [lmdb, ...databases.map(storeOf('queries'))]) {
      const began = performance.now();
      await fillRecords({ root, store, records, days: DAYS });
      const seconds = ((performance.now() - began) / 1_000).toFixed(0);
      console.log(`${records.toLocaleString('en')} records on ${driver} in ${seconds} s`);
      const place = join(directory, `queries-${driver}`);
      const gateway = await startForwarder({ root, directory: place, upstream, store });
      for (const [page, figure] of Object.entries(await measureEach(gateway)))
        rows[page] = { ...rows[page], [`${driver}, ms`]: Number(figure.toFixed(1)) };
      await gateway.stop();
    }
  } finally {
    for (const { server } of databases) await server.stop();
    await upstream.stop();
  }
  console.log(
    `\nslowest query of a page at ${records.toLocaleString('en')} records (medians of ${TIMES})`,
  );
  console.table(rows);
  console.log(judgeQueries(rows));
}

/** Milliseconds of the slowest query of each page. */
async function measureEach({ url, key: admin }) {
  const call = async (path, { key = admin, ...rest } = {}) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const answer = await fetch(url + path, { headers, ...rest });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  };
  const body = JSON.stringify({ name: 'owner', scopes: SCOPES });
  const { value: key } = await call('/admin/v1/keys', { method: 'POST', body });
  const figures = {};
  for (const [page, paths] of Object.entries(await pagesOf(call))) {
    const each = [];
    for (const path of paths) each.push(await timeOf(() => call(path, { key })));
    figures[page] = Math.max(...each);
  }
  return figures;
}

async function timeOf(ask) {
  const times = [];
  for (let time = 0; time <= TIMES; time++) {
    const began = performance.now();
    await ask();
    times.push(performance.now() - began);
  }
  // The first warms up.
  return percentile(times.slice(1), 0.5);
}

/** Queries of the pages as a browser makes them. */
async function pagesOf(call) {
  const day = (ms) => new Date(ms).toISOString().slice(0, 10);
  const now = Date.now();
  const last = `from=${new Date(now - DAY_MS).toISOString()}`;
  const range = `from=${day(now - DAYS * DAY_MS)}&to=${day(now + DAY_MS)}`;
  const month = `month=${day(now).slice(0, 7)}`;
  const { data } = await call('/admin/v1/organizations');
  const { data: recent } = await call('/admin/v1/requests?limit=1');
  const { data: talks } = await call('/admin/v1/requests?limit=200');
  const use = '/admin/v1/usage?group_by=';
  return {
    Requests: [`/admin/v1/requests?limit=200&${last}`, `/admin/v1/requests/${recent[0].id}`],
    'Requests by conversation': [`${use}organization,conversation${talksOf(talks)}`],
    Costs: [
      `${use}day,model&${range}`,
      `${use}day,vendor&${range}`,
      `${use}&${month}`,
      `/admin/v1/spending?organization=${data[0].id}`,
      '/admin/v1/spending/budgets',
    ],
    'Costs by conversation': [`${use}conversation&${range}&limit=1000`],
    Sessions: ['/v1/sessions?limit=100'],
    Explain: ['/v1/models?details=true', '/admin/v1/routing?model=bench/model', '/admin/v1/status'],
    Keys: ['/admin/v1/keys?limit=1000', `${use}key&${month}`],
    Schedules: ['/v1/deployments?limit=100', '/v1/deployment_runs?limit=1000'],
    Services: ['/v1/endpoints?limit=100', '/v1/agents?limit=100'],
    Configuration: ['/admin/v1/models?limit=1000'],
    Playground: ['/v1/models'],
    Audit: ['/admin/v1/audit?limit=100'],
  };
}

/** The newest conversations, as the page asks for their sums. */
function talksOf(rows) {
  const ids = [...new Set(rows.flatMap(({ conversation }) => conversation ?? []))];
  return ids
    .slice(0, 100)
    .map((id) => `&conversation=${id}`)
    .join('');
}
