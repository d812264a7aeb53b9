import { type Address, isLoopback, parseAddress } from '../buses/address.js';
import { type LoginOptions, loginProblem } from '../buses/login.js';

const PORTS = { plain: 5672, tls: 5671 };
const LONGEST_NAME = 255;

/** Where messages go or come from: a virtual host of a broker, and an exchange or a queue in it. */
export interface AmqpTarget extends Address {
  vhost: string;
}

/** Reads `amqp[s]://HOST:PORT/VHOST#PLACE`; a text says what is wrong, without showing the target. */
export function parseAmqpTarget(target: string): AmqpTarget | string {
  const address = parseAddress(target, 'amqp', PORTS);
  if (typeof address === 'string') return address;
  const vhost = decoded(address.path);
  if (vhost === undefined || address.path.includes('/'))
    return 'has a virtual host that is none; write a / in it as %2F';
  if (Buffer.byteLength(address.place) > LONGEST_NAME) return 'has a name of more than 255 bytes behind #';
  return { ...address, vhost: vhost === '' ? '/' : vhost };
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** What is wrong with a target and its login; a sentence without its subject. */
export function amqpProblem(target: string, login: LoginOptions): string | undefined {
  const address = parseAmqpTarget(target);
  if (typeof address === 'string') return address;
  if (login.user === undefined && login.password === undefined && !isLoopback(address.host))
    return 'lacks the options user and password; guest is for this machine alone';
  return loginProblem(login, address.isTls);
}
