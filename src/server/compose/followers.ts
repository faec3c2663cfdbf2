import { ActiveExchanges } from '../../inference/active-exchanges.ts';

/** Streams that would never end by themselves, until a stop ends them. */
export interface Followers extends Pick<ActiveExchanges, 'add' | 'delete'> {
  end(): void;
}

/** Streams without an end of their own; once they are ended, new ones end as soon as they begin. */
export function createFollowers(): Followers {
  const members = new ActiveExchanges();
  let isOver = false;
  return {
    add(member) {
      members.add(member);
      if (isOver) member.shutDown();
    },
    delete: (member) => members.delete(member),
    end() {
      isOver = true;
      members.shutDown();
    },
  };
}
