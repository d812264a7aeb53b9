import { findRedisBinary, isRecentEnough, versionOf } from '../../embedded/binary.js';
import { type DoctorCheck, fail, ok, warn } from '../check.js';

export const redisServerCheck: DoctorCheck = {
  name: 'redis-server',
  async run({ dir, env }) {
    const binary = await findRedisBinary(dir, env);
    if (!binary) {
      return [
        warn(
          'neither redis-server nor valkey-server is in PATH',
          'Without one (apt-get install redis-server) or a --redis, the inline engine judges and keeps nothing.',
        ),
      ];
    }
    const version = await versionOf(binary);
    if (version === undefined) return [fail(`${binary.path} does not run`, 'Install redis-server anew.')];
    if (!isRecentEnough(version)) return [fail(`${binary.path} ${version}`, 'Install 6.2 or newer.')];
    return [ok(`${binary.path} ${version}, for the private Redis`)];
  },
};
