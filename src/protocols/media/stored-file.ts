import { GatewayError } from '../../core/errors.ts';

/** Refusal of a file that was uploaded to one vendor, on the way to another. */
export function storedFile(param: string): GatewayError {
  const message = `\`${param}\` names a file that only the vendor it was uploaded to knows, and this route asks another one; send the file itself`;
  return new GatewayError('unsupported_feature', { message, param });
}
