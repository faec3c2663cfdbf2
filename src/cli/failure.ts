import { reasonOf } from '../core/errors.ts';
import { ClientError } from '../client/http/client-error.ts';
import { systemCode } from '../client/http/connection-error.ts';
import { CliError } from './cli-error.ts';
import { connectionHint } from './connection/connection-hints.ts';
import { EXIT, exitOf } from './exit-codes.ts';
import type { Failure } from './command.ts';

const HINTS: Readonly<Record<string, string>> = {
  unreachable:
    'is the gateway running? start one with `gateway start`, or name another with --server',
  missing_api_key: 'set GATEWAY_API_KEY or pass --api-key-file',
  invalid_api_key:
    'check GATEWAY_API_KEY or --api-key-file; `gateway whoami` shows which key is used, and `gateway store admin-key` on the machine of the gateway makes a new admin key',
  insufficient_scope:
    'the key lacks the scope for this, or its role does not allow it; with the scope account a key sees its own organization: `gateway usage --own`, `gateway budgets list --own`, `gateway executions`, `gateway account`; the rest takes an admin key (`.gateway/admin.key` of the server)',
  timeout: 'the call may have taken effect; look before you repeat it, or raise --timeout',
  connection_lost: 'the call may have taken effect; look before you repeat it',
};

/** Hints in place of {@link HINTS} where nothing can have taken effect. */
const READ_HINTS: Readonly<Record<string, string>> = {
  timeout: 'nothing was changed; run it again, or raise --timeout',
  connection_lost: 'nothing was changed by this; run it again',
};

/** Converts any thrown value to the reported failure and its exit code. */
export function toFailure(thrown: unknown): Failure {
  if (thrown instanceof CliError) {
    const { code, message, hint, status, exitCode } = thrown;
    return { code, message, hint, status, exitCode };
  }
  if (thrown instanceof ClientError) {
    const { code, message, status, isRead } = thrown;
    const hint = hintOf(thrown) ?? (isRead ? READ_HINTS[code] : undefined) ?? HINTS[code];
    const { requestId } = thrown;
    const isNamed = requestId === undefined || message.includes(requestId);
    const request = isNamed ? '' : ` (request ${requestId})`;
    const exitCode = EXIT[exitOf(thrown)].code;
    return { code, message: message + request, hint, status, exitCode };
  }
  const message = reasonOf(thrown);
  return { code: codeOf(thrown), message, exitCode: EXIT.failed.code };
}

function hintOf({ code, cause, message, isRead }: ClientError): string | undefined {
  if (code === 'unreachable') return connectionHint(systemCode(cause));
  // A server that speaks HTTPS drops a call that begins without its handshake.
  const mayBeTls = code === 'connection_lost' && isRead && message.includes('to http://');
  return mayBeTls ? `${READ_HINTS[code]}; write https:// if it serves that` : undefined;
}

/** System errors (`ENOENT`) and errors of the rooms below carry a code of their own. */
function codeOf(thrown: unknown): string {
  const named = thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string';
  return named ? String(thrown.code) : 'internal_error';
}
