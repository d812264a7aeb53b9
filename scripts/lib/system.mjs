import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { ROOT, say } from './paths.mjs';

const TOOLS = join(ROOT, '.sluice', 'tools');
const APT_TIMEOUT_MS = 5 * 60_000;

/** Redis for the private server and the tests. Returns whether there is one now. */
export function ensureRedis() {
  return ensurePackage({
    commands: ['redis-server', 'valkey-server'],
    apt: ['redis-server'],
    unpack: ['redis-tools', 'redis-server', 'libjemalloc2', 'liblzf1'],
    why: 'the private Redis that keeps batches across restarts',
    without: 'batches are judged by the inline engine, and nothing survives the process',
  });
}

/** ansible-core for rules with the `ansible` validator. Returns whether it is there now. */
export function ensureAnsible() {
  return ensurePackage({
    commands: ['ansible-playbook'],
    apt: ['ansible-core'],
    why: 'rules with the ansible validator',
    without: 'all other validators work; ansible rules end as errors, and their tests are skipped',
  });
}

/** bubblewrap, the sandbox around commands and playbooks. Returns whether it is there now. */
export function ensureBubblewrap() {
  return ensurePackage({
    commands: ['bwrap'],
    apt: ['bubblewrap'],
    why: 'the read-only sandbox around playbooks, commands and MCP servers',
    without:
      'patterns, statuses and code work; what needs the sandbox is not run unless the settings say sandbox: container or off',
  });
}

/** Brokers that the tests of sinks and sources talk to. Returns whether all of them are there now. */
export function ensureBrokers() {
  const brokers = [
    { commands: ['nats-server'], apt: ['nats-server'], why: 'the tests of NATS' },
    { commands: ['rabbitmq-server'], apt: ['rabbitmq-server'], why: 'the tests of RabbitMQ' },
    { commands: ['mosquitto'], apt: ['mosquitto'], why: 'the tests of MQTT' },
  ];
  const without = 'these tests fail; nothing else needs it';
  return brokers.map((broker) => ensurePackage({ ...broker, without })).every(Boolean);
}

/** promtool, by which the tests hold metrics and alert rules to Prometheus. Returns whether it is there now. */
export function ensurePromtool() {
  return ensurePackage({
    commands: ['promtool'],
    apt: ['prometheus'],
    why: 'the tests of metrics and alerts',
    without: 'these tests fail; nothing else needs it',
  });
}

/** Installs Debian packages as root; used by the Docker part of CI too. */
export function aptInstall(names) {
  const install = () =>
    apt(['install', '-y', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=120', ...names]);
  if (install()) return true;
  return apt(['update']) && install();
}

function ensurePackage(wanted) {
  if (wanted.commands.some(onPath) || (wanted.unpack && unpackedRedis() !== undefined)) return true;
  const name = wanted.apt.join(' ');
  const missing = `${wanted.commands.join(' or ')} is missing (needed for ${wanted.why})`;
  const give = (reason) => {
    say(`${missing}: ${reason}. Without it, ${wanted.without}.`);
    return false;
  };
  if (process.env.SLUICE_NO_INSTALL === '1') return give('not installed because SLUICE_NO_INSTALL=1');
  if (!onPath('apt-get')) return give(`install ${name} with this system's package manager`);
  if (process.getuid?.() === 0) {
    say(`${missing}: installing ${name} with apt-get (SLUICE_NO_INSTALL=1 prevents that)`);
    return aptInstall(wanted.apt) && wanted.commands.some(onPath)
      ? true
      : give(`apt-get could not install ${name}`);
  }
  if (!wanted.unpack) return give(`as root: apt-get install ${name}`);
  say(`${missing}: unpacking it into .sluice/tools, without root (SLUICE_NO_INSTALL=1 prevents that)`);
  return unpack(wanted.unpack) && unpackedRedis() !== undefined ? true : give('it could not be fetched');
}

function onPath(command) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, command), constants.X_OK);
      return folder !== '';
    } catch {
      return false;
    }
  });
}

/** The unpacked server, if it really starts here. */
function unpackedRedis() {
  const server = join(TOOLS, 'usr', 'bin', 'redis-server');
  if (!existsSync(server)) return undefined;
  const lib = join(TOOLS, 'usr', 'lib');
  const triplets = existsSync(lib) ? readdirSync(lib).map((name) => join(lib, name)) : [];
  const env = { ...process.env, LD_LIBRARY_PATH: triplets.join(':') };
  return spawnSync(server, ['--version'], { env }).status === 0 ? server : undefined;
}

function apt(args, cwd = ROOT) {
  // RUNLEVEL=1 keeps Debian from starting a system-wide service that nobody asked for.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const stdio = ['ignore', 2, 2];
  return spawnSync('apt-get', ['-q', ...args], { cwd, env, stdio, timeout: APT_TIMEOUT_MS }).status === 0;
}

function unpack(names) {
  const downloads = mkdtempSync(join(tmpdir(), 'sluice-apt-'));
  try {
    if (!apt(['download', ...names], downloads) && !downloadWithOwnLists(names, downloads)) return false;
    mkdirSync(TOOLS, { recursive: true });
    return readdirSync(downloads)
      .filter((file) => file.endsWith('.deb'))
      .every(
        (file) =>
          spawnSync('dpkg', ['-x', join(downloads, file), TOOLS], { stdio: ['ignore', 2, 2] }).status === 0,
      );
  } finally {
    rmSync(downloads, { recursive: true, force: true });
  }
}

/** A machine whose package lists were cleaned away has nothing to download by; only root may refresh its own. */
function downloadWithOwnLists(names, downloads) {
  const state = join(downloads, 'state');
  mkdirSync(join(state, 'lists', 'partial'), { recursive: true });
  mkdirSync(join(state, 'cache', 'archives', 'partial'), { recursive: true });
  const own = ['-o', `Dir::State::lists=${join(state, 'lists')}`, '-o', `Dir::Cache=${join(state, 'cache')}`];
  return apt([...own, 'update'], downloads) && apt([...own, 'download', ...names], downloads);
}
