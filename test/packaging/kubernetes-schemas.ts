// The fields of Kubernetes that the configuration in config/kubernetes uses: a misspelt field fails.
import { z } from 'zod';

export const labels = z.record(z.string(), z.string());
export const metadata = z.strictObject({ name: z.string().regex(/^[a-z0-9-]+$/), labels });
export const port = z.union([z.string(), z.int()]);
const probe = z.strictObject({
  httpGet: z.strictObject({ path: z.string().startsWith('/'), port }),
  failureThreshold: z.int().optional(),
  periodSeconds: z.int().optional(),
});
const container = z.strictObject({
  name: z.string(),
  image: z.string(),
  args: z.array(z.string()).optional(),
  env: z.array(z.strictObject({ name: z.string(), value: z.string() })).optional(),
  ports: z.array(z.strictObject({ name: z.string(), containerPort: z.int() })).optional(),
  securityContext: z.strictObject({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.strictObject({ drop: z.tuple([z.literal('ALL')]) }),
  }),
  startupProbe: probe.optional(),
  livenessProbe: probe.optional(),
  readinessProbe: probe.optional(),
  resources: z.strictObject({ requests: z.partialRecord(z.string(), z.string()), limits: z.partialRecord(z.string(), z.string()) }),
  volumeMounts: z.array(z.strictObject({ name: z.string(), mountPath: z.string().startsWith('/'), readOnly: z.boolean().optional() })),
});
export const deployment = z.strictObject({
  apiVersion: z.literal('apps/v1'),
  kind: z.literal('Deployment'),
  metadata,
  spec: z.strictObject({
    replicas: z.literal(1),
    strategy: z.strictObject({ type: z.literal('Recreate') }),
    selector: z.strictObject({ matchLabels: labels }),
    template: z.strictObject({
      metadata: z.strictObject({ labels }),
      spec: z.strictObject({
        automountServiceAccountToken: z.literal(false),
        terminationGracePeriodSeconds: z.int(),
        securityContext: z.strictObject({
          runAsNonRoot: z.literal(true),
          runAsUser: z.literal(65532),
          runAsGroup: z.literal(65532),
          fsGroup: z.literal(65532),
          seccompProfile: z.strictObject({ type: z.literal('RuntimeDefault') }),
        }),
        containers: z.tuple([container]),
        volumes: z.array(
          z.union([
            z.strictObject({ name: z.string(), persistentVolumeClaim: z.strictObject({ claimName: z.string() }) }),
            z.strictObject({ name: z.string(), configMap: z.strictObject({ name: z.string() }) }),
            z.strictObject({ name: z.string(), emptyDir: z.strictObject({}) }),
            z.strictObject({ name: z.string(), secret: z.strictObject({ secretName: z.string(), defaultMode: z.int() }) }),
          ]),
        ),
      }),
    }),
  }),
});

export const claim = z.strictObject({
  apiVersion: z.literal('v1'),
  kind: z.literal('PersistentVolumeClaim'),
  metadata,
  spec: z.strictObject({
    accessModes: z.array(z.enum(['ReadWriteOnce', 'ReadWriteOncePod'])),
    resources: z.strictObject({ requests: z.partialRecord(z.enum(['storage']), z.string()) }),
  }),
});
