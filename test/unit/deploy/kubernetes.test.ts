import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { configSchema } from '../../../config/schema.js';
import { QUEUES, queuePrefix } from '../../../queues/names.js';
import { createProgram } from '../../../src/cli/program.js';
import { type Manifest, readManifests } from '../../support/manifests.js';

const FOLDER = 'deploy/kubernetes';
const files = readdirSync(FOLDER).filter((name) => name !== 'kustomization.yaml');
const read = (name: string) => readFileSync(`${FOLDER}/${name}`, 'utf8');
const all: Manifest[] = files.flatMap((name) => readManifests(name, read(name)).manifests);
const ofKind = (kind: string) => all.filter((manifest) => manifest.kind === kind);
const deployments = ofKind('Deployment');
const settings = configSchema.parse(parse(ofKind('ConfigMap')[0]?.data?.['sluice.yaml'] ?? ''));
const has = (labels: Record<string, string>, wanted: Record<string, string>) =>
  Object.entries(wanted).every(([name, value]) => labels[name] === value);
const podLabels = deployments.map(({ spec }) => spec.template.metadata.labels as Record<string, string>);

describe('deploy/kubernetes', () => {
  it.each(files)('%s is what the schemas of Kubernetes and KEDA say', (name) => {
    const { manifests, problems } = readManifests(name, read(name));
    expect(problems).toEqual([]);
    expect(manifests.length).toBeGreaterThan(0);
  });

  it('lists every file of a deployment, and none that is to be filled in or chosen', () => {
    const { resources } = parse(read('kustomization.yaml')) as { resources: string[] };
    const chosen = files.filter((name) => !name.includes('.example.') && name !== 'keda-scale.yaml');
    expect([...resources].sort()).toEqual(chosen.sort());
  });

  it('has each role, and selects its own pods', () => {
    const roles = deployments.map(({ spec }) => spec.template.spec.containers[0].args[0]);
    expect(roles.sort()).toEqual(['aggregator', 'dispatcher', 'serve', 'sweeper', 'worker']);
    for (const { spec } of deployments)
      expect(spec.selector.matchLabels).toEqual(spec.template.metadata.labels);
    const selectors = [
      ...ofKind('PodDisruptionBudget').map(({ spec }) => spec.selector.matchLabels),
      ...ofKind('NetworkPolicy').map(({ spec }) => spec.podSelector.matchLabels),
      ...ofKind('Service')
        .filter(({ metadata }) => metadata.name === 'sluice')
        .map(({ spec }) => spec.selector),
    ];
    for (const wanted of selectors) expect(podLabels.some((labels) => has(labels, wanted))).toBe(true);
    expect(ofKind('PodDisruptionBudget')).toHaveLength(deployments.length);
  });

  it.each(deployments.map((one) => [one.metadata.name, one] as const))(
    '%s starts with what the command line knows',
    (_name, { spec }) => {
      const [role, ...args]: string[] = spec.template.spec.containers[0].args;
      const command = createProgram({ exitCode: 0 }).commands.find((one) => one.name() === role);
      const known = command?.options.map(({ long }) => long) ?? [];
      for (const option of args.filter((arg) => arg.startsWith('--'))) expect(known).toContain(option);
    },
  );

  it.each(deployments.map((one) => [one.metadata.name, one] as const))(
    '%s runs without rights, and has the time to drain',
    (_name, { spec }) => {
      const pod = spec.template.spec;
      const [container] = pod.containers;
      expect(pod.securityContext).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(pod.automountServiceAccountToken).toBe(false);
      expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThan(settings.worker.drain + 5_000);
      const ports = container.ports.map(({ name }: { name: string }) => name);
      for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
        const { path, port } = container[probe].httpGet;
        expect(ports).toContain(port);
        expect(path).toBe(probe === 'readinessProbe' ? '/readyz' : '/healthz');
      }
      const { port, path } = { port: 'prometheus.io/port', path: 'prometheus.io/path' };
      const { annotations } = spec.template.metadata;
      expect(container.ports.map((one: { containerPort: number }) => String(one.containerPort))).toContain(
        annotations[port],
      );
      expect(annotations[path]).toBe('/metrics');
      for (const { name, configMap } of pod.volumes as { name: string; configMap?: { name: string } }[]) {
        expect(container.volumeMounts.map((one: { name: string }) => one.name)).toContain(name);
        if (configMap !== undefined) expect(ofKind('ConfigMap')[0]?.metadata.name).toBe(configMap.name);
      }
    },
  );

  it('settings keep the pod as the sandbox', () => expect(settings.sandbox).toBe('container'));

  it('scales what there is, by the lists that BullMQ really has', () => {
    const names = [...deployments].map(({ metadata }) => metadata.name);
    const secrets = Object.keys(ofKind('Secret')[0]?.stringData ?? {});
    const lists: string[] = [];
    for (const { spec } of ofKind('ScaledObject')) {
      expect(names).toContain(spec.scaleTargetRef.name);
      for (const { type, metadata } of spec.triggers) if (type === 'redis') lists.push(metadata.listName);
    }
    const wait = (queue: string) => `${queuePrefix(settings.fleet)}:${queue}:wait`;
    expect(lists.sort()).toEqual([QUEUES.decide, QUEUES.pure, QUEUES.runner].map(wait));
    for (const { spec } of ofKind('TriggerAuthentication'))
      for (const { key } of spec.secretTargetRef) expect(secrets).toContain(key);
  });
});

describe('the check of manifests', () => {
  const worker = read('worker.yaml');
  const keda = read('keda.yaml');
  const planted: [string, string, RegExp][] = [
    ['a misspelt field', worker.replace('startupProbe:', 'startupprobe:'), /startupprobe is no field/],
    ['a misspelt field deep inside', worker.replace('runAsNonRoot', 'runAsNonroot'), /runAsNonroot/],
    ['a wrong type', worker.replace('periodSeconds: 1\n', 'periodSeconds: often\n'), /periodSeconds/],
    ['a port without its number', worker.replace('containerPort: 9464', 'hostIP: x'), /containerPort/],
    ['a Deployment without a selector', worker.replace(/ {2}selector:\n.*\n/, ''), /selector/],
    ['an unknown kind', worker.replace('kind: Deployment', 'kind: Deploymnet'), /no schema/],
    ['a key twice', worker.replace('spec:\n', 'spec: {}\nspec:\n'), /unique/],
    ['a misspelt field of KEDA', keda.replace('minReplicaCount', 'minReplicas'), /minReplicas is no field/],
    ['a misspelt setting of a trigger', keda.replace('listName', 'list'), /lacks listName.*|has list,/],
    ['an unknown trigger', keda.replace('type: redis\n', 'type: rediss\n'), /no trigger rediss/],
    ['a trigger without a type', keda.replace('- type: redis\n      name: pure', '- name: pure'), /type/],
  ];

  it.each(planted)('refuses %s', (_what, text, problem) => {
    expect(readManifests('planted.yaml', text).problems.join('\n')).toMatch(problem);
  });
});
