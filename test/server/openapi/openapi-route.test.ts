import { describe, expect, it } from 'vitest';
import { organization } from '../../../src/resources/kinds/organization.ts';
import { describeApi } from '../../../src/server/openapi/document.ts';
import { openApiRoutes } from '../../../src/server/openapi/openapi-route.ts';
import { answerOf } from '../routes/handler-calls.ts';

describe('the routes of the documents', () => {
  const INPUT = { routes: [], definitions: [organization], publicUrl: 'https://gateway.test' };
  const routes = openApiRoutes(INPUT);

  it.each([
    ['/openapi.json', 'public'],
    ['/admin/openapi.json', 'admin'],
  ] as const)('give that of their part to everyone: %s', async (path, part) => {
    const route = routes.find((one) => one.path === path);
    expect(Object.keys(route?.methods ?? {})).toEqual(['GET']);
    const { status, headers, body } = await answerOf(route?.methods.GET, {
      headers: { authorization: '' },
    });
    expect(status).toBe(200);
    expect(headers).toEqual({
      'content-type': 'application/json',
      'cache-control': 'public, max-age=300',
    });
    expect(JSON.parse(String(body))).toEqual(JSON.parse(JSON.stringify(describeApi(INPUT, part))));
  });

  it('are two, and make each document once', async () => {
    expect(routes).toHaveLength(2);
    const [first, again] = [
      await answerOf(routes[0]?.methods.GET),
      await answerOf(routes[0]?.methods.GET),
    ];
    expect(first.body).toBe(again.body);
  });
});
