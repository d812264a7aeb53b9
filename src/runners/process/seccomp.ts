import { endianness } from 'node:os';

/** Numbers of a machine's system calls. */
interface Machine {
  /** AUDIT_ARCH_* of linux/audit.h. */
  audit: number;
  socket: number;
  clone: number;
  unshare: number;
  /** keyctl, add_key, request_key, bpf, perf_event_open, userfaultfd: of no use to a tool. */
  refused: readonly number[];
}

const MACHINES: Readonly<Record<string, Machine>> = {
  x64: { audit: 0xc000003e, socket: 41, clone: 56, unshare: 272, refused: [250, 248, 249, 321, 298, 323] },
  arm64: { audit: 0xc00000b7, socket: 198, clone: 220, unshare: 97, refused: [219, 217, 218, 280, 241, 282] },
};
/** The same on both. */
const [IO_URING_SETUP, CLONE3] = [425, 435];
/** Calls of x32 on x64 have this bit; nothing uses them. */
const X32 = 0x40000000;

const [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK] = [1, 2, 10, 16];
const CLONE_NEWUSER = 0x10000000;

/** Codes of classic BPF: load a word, compare, jump, return. */
const [LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN] = [0x20, 0x15, 0x35, 0x45, 0x06];
const ALLOW = 0x7fff0000;
const refuse = (errno: number) => 0x00050000 | errno;
const [EPERM, ENOSYS, EAFNOSUPPORT] = [1, 38, 97];
/** Offsets in struct seccomp_data. */
const [NUMBER, ARCH, FIRST_ARGUMENT] = [0, 4, 16];

type Step = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

const load = (offset: number): Step => [LOAD, 0, 0, offset];
const end = (value: number): Step => [RETURN, 0, 0, value];
/** The steps when the loaded word compares, else what follows them. */
const when = (code: number, value: number, steps: readonly Step[]): Step[] => [
  [code, 0, steps.length, value],
  ...steps,
];

function stepsFor(machine: Machine, families: readonly number[]): Step[] {
  const newUser = [load(FIRST_ARGUMENT), ...when(ANY_BIT, CLONE_NEWUSER, [end(refuse(EPERM))]), end(ALLOW)];
  return [
    load(ARCH),
    [EQUAL, 1, 0, machine.audit],
    end(refuse(ENOSYS)),
    load(NUMBER),
    ...when(AT_LEAST, X32, [end(refuse(ENOSYS))]),
    // Its flags cannot be looked at; libraries then use clone.
    ...when(EQUAL, CLONE3, [end(refuse(ENOSYS))]),
    // It opens and connects sockets past these rules.
    ...when(EQUAL, IO_URING_SETUP, [end(refuse(ENOSYS))]),
    ...machine.refused.flatMap((call) => when(EQUAL, call, [end(refuse(EPERM))])),
    ...when(EQUAL, machine.clone, newUser),
    ...when(EQUAL, machine.unshare, newUser),
    ...when(EQUAL, machine.socket, [
      load(FIRST_ARGUMENT),
      ...families.flatMap((family) => when(EQUAL, family, [end(ALLOW)])),
      end(refuse(EAFNOSUPPORT)),
    ]),
    end(ALLOW),
  ];
}

/**
 * A filter of system calls for bwrap: no namespaces of users, and sockets only of the network, which
 * is empty where the tool has none. A read-only mount does not keep anybody from a Unix socket in it,
 * so these are had only with the network. undefined where the machine's numbers are not known.
 */
export function socketFilter(network: boolean, arch: string = process.arch): Buffer | undefined {
  const machine = MACHINES[arch];
  if (machine === undefined || endianness() !== 'LE') return undefined;
  const families = [AF_INET, AF_INET6, AF_NETLINK, ...(network ? [AF_UNIX] : [])];
  const steps = stepsFor(machine, families);
  const filter = Buffer.alloc(8 * steps.length);
  for (const [i, [code, ifTrue, ifFalse, value]] of steps.entries()) {
    filter.writeUInt16LE(code, 8 * i);
    filter.writeUInt8(ifTrue, 8 * i + 2);
    filter.writeUInt8(ifFalse, 8 * i + 3);
    filter.writeUInt32LE(value, 8 * i + 4);
  }
  return filter;
}
