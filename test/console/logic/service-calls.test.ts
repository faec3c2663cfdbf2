import { expect, it } from 'vitest';
import { toMcpCommand, toServiceCurl } from '../../../src/console/logic/service-calls.ts';

const ORIGIN = 'https://llm.example';
const SERVICE = { slug: 'desk', urls: { rest: '/v1/endpoints/e/run', mcp: '/mcp/desk' } };

it('calls a Service at the API, with a key that stays a variable', () => {
  expect(toServiceCurl(SERVICE, ORIGIN)).toBe(
    [
      'curl https://llm.example/v1/endpoints/e/run \\',
      '  -H "authorization: Bearer $GATEWAY_API_KEY" \\',
      `  -H 'content-type: application/json' \\`,
      `  -d '{"input":"Hello"}'`,
    ].join('\n'),
  );
});

it('tells a tool of a Service and of the key that it takes', () => {
  const rest = '--header "Authorization: Bearer $GATEWAY_API_KEY"';
  expect(toMcpCommand(SERVICE, ORIGIN)).toBe(
    `claude mcp add --transport http desk https://llm.example/mcp/desk ${rest}`,
  );
  expect(toMcpCommand({ ...SERVICE, slug: null }, ORIGIN)).toContain(' http service https:');
});
