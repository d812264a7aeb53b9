import { type DoctorCheck, fail, ok, warn } from '../check.js';

const count = (n: number, one: string): string => `${n} ${n === 1 ? one : `${one}s`}`;

/** Over how many shards the fleet is spread, and where something of another number is left. */
export const shardsCheck: DoctorCheck = {
  name: 'shards',
  async run({ shards: look }) {
    if (look === undefined) return [];
    try {
      const { shards, former, left } = await look();
      const spread = `new work goes to ${count(shards, 'shard')}`;
      if (former.length === 0) return [ok(spread)];
      const where = left.map(({ shard }) => shard).join(', ');
      return [
        warn(
          `${spread}; of the time with ${former.join(' and ')} something is left in ${left.length === 1 ? 'shard' : 'shards'} ${where}`,
          'It is found there and goes on; sluice reshard tells what it is, and forgets that number when it is gone.',
        ),
      ];
    } catch (error) {
      return [
        fail(`the shards cannot be looked at: ${(error as Error).message}`, 'See the finding of redis.'),
      ];
    }
  },
};
