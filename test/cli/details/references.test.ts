import { describe, expect, it } from 'vitest';
import { createClient } from '../../../src/client/create-client.ts';
import { addNamesToAll } from '../../../src/cli/details/references.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import { startFakeServer, type Handler } from '../../client/fake-server.ts';

const NEVER = new AbortController().signal;

describe('addNamesToAll', () => {
  it.each([
    [8, Array.from({ length: 8 }, (_, index) => `/admin/v1/organizations/org_${index}`)],
    [9, ['/admin/v1/organizations']],
  ])('asks once for each of %i objects, and for the list of more', async (count, expected) => {
    const named = (id: string) => ({ id, type: 'organization', name: `name of ${id}` });
    const ids = Array.from({ length: count }, (_, index) => `org_${index}`);
    const { addTo, paths, close } = await servedBy(({ path }) => {
      const id = path.split('/')[4];
      return { body: id ? named(id) : { data: ids.map(named), next_page: null } };
    });
    const rows = await addTo([...ids, ...ids].map((organization) => ({ organization })));
    await close();
    expect(rows.at(-1)).toEqual({
      organization: `org_${count - 1}`,
      organization_name: `name of org_${count - 1}`,
    });
    expect(paths.toSorted()).toEqual(expected);
  });

  it('leaves out the names that the key may not see', async () => {
    const { addTo, close } = await servedBy(({ path }) =>
      path.includes('agents')
        ? { status: 403, body: { error: { code: 'insufficient_scope', message: 'no' } } }
        : { body: { id: 'org_1', type: 'organization', name: 'acme' } },
    );
    const [row] = await addTo([{ organization: 'org_1', agent_id: 'agent_1' }]);
    await close();
    expect(row).toEqual({
      organization: 'org_1',
      organization_name: 'acme',
      agent_id: 'agent_1',
    });
  });
});

async function servedBy(handler: Handler) {
  const paths: string[] = [];
  const server = await startFakeServer((call, response) => {
    paths.push(call.path);
    return handler(call, response);
  });
  const client = createClient({ baseUrl: server.url, apiKey: 'key', clock: systemClock });
  return {
    addTo: (rows: Record<string, unknown>[]) => addNamesToAll(client, rows, NEVER),
    paths,
    close: () => server.close(),
  };
}
