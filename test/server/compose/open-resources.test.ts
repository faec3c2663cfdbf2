import { expect, it } from 'vitest';
import { eventually, startGateway } from '../../support/gateway.ts';

it('counts all routes without a price, and names the first fifty', async () => {
  const gateway = await startGateway({
    providers: [
      {
        name: 'own',
        type: 'custom',
        base_url: 'http://127.0.0.1:9/v1',
        protocols: { chat: true },
        auth: { type: 'none' },
      },
    ],
    models: Array.from({ length: 52 }, (_, index) => ({
      name: `acme/m${index}`,
      routes: [{ provider: 'own', upstream_model: 'm' }],
    })),
  });
  try {
    const line = await eventually(() => /^.*unpriced routes.*$/m.exec(gateway.log())?.[0]);
    expect(line).toContain('count=52');
    expect(/routes="([^"]+)"/.exec(line)?.[1]?.split(', ')).toHaveLength(50);
  } finally {
    await gateway.stop();
  }
});
