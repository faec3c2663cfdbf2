import type { CanonicalCodec } from './canonical/codec.ts';
import type { WireProtocol } from './protocol.ts';
import type { InferenceSurface } from './surface.ts';

/** Everything of a protocol that only a gateway at work needs. */
export interface ProtocolParts {
  readonly wire: WireProtocol;
  /** Way to and from the canonical form. Absent: the protocol is never translated. */
  readonly codec?: CanonicalCodec;
  /**
   * Endpoints at which clients speak it; `protocol` is {@link wire} with its translations. Absent:
   * a family of tasks declares them.
   */
  surfaces?(protocol: WireProtocol): readonly InferenceSurface[];
}
