import { afterAll, beforeAll, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { targetsOf } from '../../security/support/route-targets.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { largeBody, operationsWithBodies } from '../stall-paths.js';
import type { OperationWithBody } from '../stall-paths.js';

let gateway: TestGateway;
let served: string[];
let listed: OperationWithBody[];
beforeAll(async () => {
  gateway = await startGateway({});
  const get = async (path: string) => (await gateway.call('GET', path, { key: '' })).body;
  const documents = [await get('/openapi.json'), await get('/admin/openapi.json')];
  served = targetsOf(gateway, { paths: {}, components: { schemas: {} } })
    .map(({ title }) => title)
    .filter((title) => /^(?:POST|PUT|PATCH) /.test(title));
  listed = operationsWithBodies(documents);
});
afterAll(() => gateway.stop());

/** A parameter, with the pattern that its values have. */
const PARAMETER = /:\w+(?:\(.+\))?/g;

/** The pattern of a route, `/v1/agents/:id` or `/v1/agents/**`, as one of templates. */
const patternOf = (route: string): RegExp =>
  new RegExp(
    `^${route
      .replace(PARAMETER, '*')
      .replace(/[.\\]/g, '\\$&')
      .replaceAll('**', '.+')
      .replace(/(?<!\.)\*/g, '[^/]+')}$`,
  );

it(
  verifies('bodies.stalls-listed', 'lists every route below /v1 and /admin that may take a body'),
  async () => {
    const titles = listed.map(({ method, template }) => `${method} ${template}`);
    expect(served.length).toBeGreaterThan(30);
    const missing = served.filter((title) => !titles.some((one) => patternOf(title).test(one)));
    // The sign-in of the console reads some kilobytes, and its answers are pages.
    for (const title of missing.filter((one) => !one.includes(' /console'))) {
      const [method = '', route = ''] = title.split(' ');
      const { status } = await gateway.admin(
        method,
        route.replace(PARAMETER, 'none').replaceAll('**', 'none'),
        {},
      );
      expect([title, status]).toEqual([title, 405]);
    }
  },
);

it('writes bodies that hold the values where the operation makes something of them', () => {
  const bodyOf = (template: string): unknown => {
    const found = listed.find((one) => one.template === template);
    return JSON.parse(largeBody(found?.members ?? {}, '[1,1]'));
  };
  const messages = [{ role: 'user', content: 'hi' }];
  expect(bodyOf('/v1/run')).toEqual({ model: 'forward/small', input: { messages, x: [1, 1] } });
  expect(bodyOf('/v1/chat/completions')).toEqual({ model: 'forward/small', messages, x: [1, 1] });
  expect(bodyOf('/v1/interactions')).toMatchObject({ model: 'forward/small', x: [1, 1] });
  expect(listed.every(({ path }) => !path.includes('{'))).toBe(true);
});
