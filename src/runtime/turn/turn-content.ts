import type { Session } from '../../sessions/session.ts';
import type { AttachedFile } from './attached-files.ts';
import type { TurnSkill } from '../model/skill-server.ts';

/** Content that turns read in addition to the log of their Session. */
export interface TurnContent {
  /** Skills of the Session's Agent that are still there. */
  skills(session: Session): Promise<readonly TurnSkill[]>;
  /** An upload of the Session's organization; undefined for one that is not there. */
  file(session: Session, id: string): Promise<AttachedFile | undefined>;
}
