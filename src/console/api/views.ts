import type { Role } from '../../core/access.ts';
import type { RequestRecord } from '../../client/requests.ts';
import type { SessionView } from '../../client/sessions.ts';

// Shapes of answers with the members that the pages show; older gateways may leave some out.

export interface Attempt {
  provider: string;
  model: string;
  status: number | null;
  outcome: string;
  ms: number;
  cause?: string | null;
  verdict?: string;
  /** `client`: its own. */
  credential?: string;
  cost?: string;
  first_content_ms?: number | null;
  started_ms?: number;
  usage?: Usage;
}

export interface Usage {
  input_tokens: number;
  cache_read_tokens: number;
  cache_write_5m_tokens: number;
  cache_write_1h_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  images: number;
  seconds: number;
}

/** Limit of money or of a rate that refused a request. */
export interface RefusedBy {
  limit: string;
  id: string;
  name: string | null;
  unit: string;
  needed: string | number | null;
  left: string | number;
  /** All of it in sentences. */
  text: string;
}

/** A request as lists show it; what a key without the scope admin does not see is absent. */
export interface RequestRow extends RequestRecord {
  key: { id: string; name: string };
  alias: string | null;
  stream: boolean;
  organization?: string;
  answered_by?: { model: string; provider: string; upstream_model: string } | null;
  error_code: string | null;
  /** Limit that refused it; absent where none did. */
  refused_by?: RefusedBy;
  attempts?: Attempt[];
  usage: Usage;
  estimated: boolean;
  /** Absent where no limit held any. */
  reserved?: string;
  losses?: string[];
  overhead_us?: number | null;
  first_content_ms: number | null;
  content?: { request: string; response: string };
  conversation?: string | { id: string } | null;
  session_id?: string | null;
}

export interface Page<Item> {
  data: Item[];
  next_page: string | null;
}

/** The signed-in session (`/console/api/session`). */
export interface ConsoleSession {
  id: string;
  csrf: string;
  /** `role` null: only the key's scopes bound it. */
  key: { id: string; name: string; scopes: string[] | null; role: Role | null };
  organization: { id: string; name: string };
  /** Null where the API is at the origin of the console. */
  api_url: string | null;
  expires_at: string;
}

/** An event of a Session's history. */
export interface SessionEvent {
  readonly id: string;
  readonly type: string;
  readonly processed_at: string;
  readonly [member: string]: unknown;
}

/** A Session as lists show it. */
export interface SessionRow extends SessionView {
  updated_at: string;
  archived_at?: string | null;
  deployment_id?: string | null;
  endpoint_id?: string | null;
  usage?: { input_tokens: number; output_tokens: number; cost?: string | null };
}
