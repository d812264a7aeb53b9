import { type Address, parseAddress } from '../buses/address.js';
import { type LoginOptions, loginProblem } from '../buses/login.js';

const PORTS = { plain: 1883, tls: 8883 };
const LONGEST_TOPIC = 65_535;

/** Reads `mqtt[s]://HOST:PORT#TOPIC`; a text says what is wrong, without showing the target. */
export function parseMqttTarget(target: string): Address | string {
  const address = parseAddress(target, 'mqtt', PORTS);
  if (typeof address === 'string') return address;
  if (address.path !== '') return 'has a path; the topic stands behind #';
  if (address.place === '') return 'lacks its topic behind #';
  return address;
}

/** What is wrong with a target and its login; a sentence without its subject. */
export function mqttProblem(target: string, login: LoginOptions): string | undefined {
  const address = parseMqttTarget(target);
  return typeof address === 'string' ? address : loginProblem(login, address.isTls);
}

/** What is wrong with a topic that a message is published to. */
export function topicProblem(topic: string): string | undefined {
  if (Buffer.byteLength(topic) > LONGEST_TOPIC) return 'has a topic of more than 65,535 bytes';
  if (topic.includes('\0')) return 'has a NUL in its topic';
  return /[+#]/.test(topic) ? 'has a topic with + or #: events go to one topic each' : undefined;
}

/** What is wrong with a filter of topics, such as `commands/#` or `$share/sluice/commands/+`. */
export function filterProblem(filter: string): string | undefined {
  if (Buffer.byteLength(filter) > LONGEST_TOPIC) return 'has a topic of more than 65,535 bytes';
  if (filter.includes('\0')) return 'has a NUL in its topic';
  const [first, group, ...shared] = filter.split('/');
  const isShared = first === '$share';
  if (isShared && (!group || /[+#]/.test(group) || shared.join('') === ''))
    return 'has a shared topic that is none; write $share/GROUP/TOPIC';
  const levels = isShared ? shared : filter.split('/');
  const isStrange = levels.some((level, n) => {
    if (level === '#') return n < levels.length - 1;
    return level !== '+' && /[+#]/.test(level);
  });
  return isStrange ? 'has a topic in which + is no whole level, or # is not the last one' : undefined;
}
