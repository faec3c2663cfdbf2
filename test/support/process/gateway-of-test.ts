import { onTestFinished } from 'vitest';
import { startGateway } from '../gateway.ts';
import type { StartGatewayOptions, TestGateway } from '../gateway.ts';

/** Process of the built gateway, or this one, stopped at the end of the test. */
export async function gatewayOfTest(
  config: object,
  options: StartGatewayOptions = {},
): Promise<TestGateway> {
  const gateway = await startGateway(config, { binary: true, ...options });
  onTestFinished(async () => void (await gateway.stop()));
  return gateway;
}
