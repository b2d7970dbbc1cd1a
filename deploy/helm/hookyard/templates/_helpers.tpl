{{- define "hookyard.name" -}}
{{- if contains "hookyard" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-hookyard" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "hookyard.selector" -}}
app.kubernetes.io/name: hookyard
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "hookyard.labels" -}}
{{ include "hookyard.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "hookyard.image" -}}
{{- if .Values.image.digest }}{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else }}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{/* What a pod may do at most: nothing. 1000 is the user node of the image. */}}
{{- define "hookyard.podSecurity" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "hookyard.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{/* Which secret is which setting. API and workers have the same. */}}
{{- define "hookyard.serviceSecrets" -}}
databaseUrl: DATABASE_URL
databaseDirectUrl: DATABASE_DIRECT_URL
encryptionKeys: HOOKYARD_ENCRYPTION_KEYS
apiKey: HOOKYARD_API_KEY
operatorKey: HOOKYARD_OPERATOR_KEY
smtpUrl: SMTP_URL
temporalApiKey: TEMPORAL_API_KEY
r2AccessKeyId: R2_ACCESS_KEY_ID
r2SecretAccessKey: R2_SECRET_ACCESS_KEY
{{- end }}
{{- define "hookyard.migrateSecrets" -}}
migrateDatabaseUrl: DATABASE_URL
{{- end }}

{{/* { root, secrets }: a variable for each file. */}}
{{- define "hookyard.secretEnv" -}}
{{- range $name, $variable := .secrets }}
{{- if (index $.root.Values.secrets $name).key }}
- name: {{ $variable }}_FILE
  value: /etc/hookyard/secrets/{{ $variable }}
{{- end }}
{{- end }}
{{- end }}

{{- define "hookyard.mounts" -}}
- { name: tmp, mountPath: /tmp }
- { name: secrets, mountPath: /etc/hookyard/secrets, readOnly: true }
{{- if or .Values.database.ca.secret .Values.database.ca.configMap }}
- { name: postgres-ca, mountPath: /etc/hookyard/postgres, readOnly: true }
{{- end }}
{{- end }}

{{/* { name, ca }: the file of an authority's certificate. */}}
{{- define "hookyard.caVolume" -}}
{{- if .ca.secret }}
- name: {{ .name }}
  secret: { secretName: {{ .ca.secret }}, items: [{ key: {{ .ca.key }}, path: ca.crt }] }
{{- else if .ca.configMap }}
- name: {{ .name }}
  configMap: { name: {{ .ca.configMap }}, items: [{ key: {{ .ca.key }}, path: ca.crt }] }
{{- end }}
{{- end }}

{{/* { root, secrets } */}}
{{- define "hookyard.volumes" -}}
- name: tmp
  emptyDir: { sizeLimit: 256Mi }
# The whole folder is mounted, so that a Secret that changes reaches the running process.
- name: secrets
  projected:
    defaultMode: 0440
    sources:
{{- range $name, $variable := .secrets }}
{{- with index $.root.Values.secrets $name }}{{ if .key }}
      - secret:
          name: {{ .name | default $.root.Values.secrets.name }}
          items: [{ key: {{ .key }}, path: {{ $variable }} }]
{{- end }}{{ end }}
{{- end }}
{{- include "hookyard.caVolume" (dict "name" "postgres-ca" "ca" .root.Values.database.ca) }}
{{- end }}

{{/* [name, value]: YAML reads on and off as booleans, and Helm would write large numbers as 2.6e+08. */}}
{{- define "hookyard.text" -}}
{{- $name := index . 0 }}{{ $value := index . 1 }}
{{- if and (kindIs "bool" $value) (hasPrefix "HOOKYARD_" $name) }}{{ ternary "on" "off" $value }}
{{- else if kindIs "float64" $value }}{{ if eq (floor $value) $value }}{{ printf "%.0f" $value }}{{ else }}{{ $value }}{{ end }}
{{- else }}{{ $value }}{{ end }}
{{- end }}

{{/* { root, env }: the settings of both roles, then those of one. */}}
{{- define "hookyard.env" -}}
{{- with .root.Values }}
- { name: HOOKYARD_PUBLIC_URL, value: {{ .publicUrl | quote }} }
- { name: OTEL_EXPORTER_PROMETHEUS_HOST, value: "0.0.0.0" }
- { name: HOOKYARD_SHUTDOWN_SECONDS, value: {{ .shutdownSeconds | quote }} }
{{- if and .migrate.enabled (not (hasKey (merge (dict) $.env .config) "HOOKYARD_MIGRATE")) }}
# The Job has migrated.
- { name: HOOKYARD_MIGRATE, value: "off" }
{{- end }}
- { name: TEMPORAL_ADDRESS, value: {{ .temporal.address | quote }} }
- { name: TEMPORAL_NAMESPACE, value: {{ .temporal.namespace | quote }} }
{{- with .temporal.uiUrl }}
- { name: TEMPORAL_UI_URL, value: {{ . | quote }} }
{{- end }}
{{- with .temporal.tls }}{{ if .enabled }}
- { name: TEMPORAL_TLS, value: "true" }
{{- if .secret }}
- { name: TEMPORAL_TLS_CLIENT_CERT_PATH, value: /etc/hookyard/temporal/tls.crt }
- { name: TEMPORAL_TLS_CLIENT_KEY_PATH, value: /etc/hookyard/temporal/tls.key }
{{- if .hasCa }}
- { name: TEMPORAL_TLS_SERVER_CA_CERT_PATH, value: /etc/hookyard/temporal/ca.crt }
{{- end }}
{{- end }}
{{- if or .ca.secret .ca.configMap }}
{{- if .hasCa }}{{ fail "temporal.tls.hasCa and temporal.tls.ca both specify an authority: choose one" }}{{ end }}
- { name: TEMPORAL_TLS_SERVER_CA_CERT_PATH, value: /etc/hookyard/temporal-ca/ca.crt }
{{- end }}
{{- with .serverName }}
- { name: TEMPORAL_TLS_SERVER_NAME, value: {{ . | quote }} }
{{- end }}
{{- end }}{{ end }}
{{- end }}
{{- include "hookyard.secretEnv" (dict "root" .root "secrets" (include "hookyard.serviceSecrets" .root | fromYaml)) }}
{{- range $name, $value := merge (dict) .env .root.Values.config }}
- { name: {{ $name }}, value: {{ include "hookyard.text" (list $name $value) | quote }} }
{{- end }}
{{- end }}

{{/* Volumes and mounts of API and workers. */}}
{{- define "hookyard.serviceVolumes" -}}
{{ include "hookyard.volumes" (dict "root" . "secrets" (include "hookyard.serviceSecrets" . | fromYaml)) }}
{{- if and .Values.temporal.tls.enabled .Values.temporal.tls.secret }}
- name: temporal-tls
  secret: { secretName: {{ .Values.temporal.tls.secret }}, defaultMode: 0440 }
{{- end }}
{{- include "hookyard.caVolume" (dict "name" "temporal-ca" "ca" .Values.temporal.tls.ca) }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}
{{- define "hookyard.serviceMounts" -}}
{{ include "hookyard.mounts" . }}
{{- if and .Values.temporal.tls.enabled .Values.temporal.tls.secret }}
- { name: temporal-tls, mountPath: /etc/hookyard/temporal, readOnly: true }
{{- end }}
{{- if or .Values.temporal.tls.ca.secret .Values.temporal.tls.ca.configMap }}
- { name: temporal-ca, mountPath: /etc/hookyard/temporal-ca, readOnly: true }
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* { root, component }: where its pods may run. */}}
{{- define "hookyard.placement" -}}
{{- if .root.Values.topologySpread.enabled }}
topologySpreadConstraints:
{{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "hookyard.selector" $.root | nindent 8 }}
        app.kubernetes.io/component: {{ $.component }}
{{- end }}
{{- end }}
{{- include "hookyard.nodes" (index .root.Values .component) }}
{{- end }}

{{/* Of a role's values: the nodes that its pods may run on. */}}
{{- define "hookyard.nodes" -}}
{{- with .nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Of networkPolicy.identity: where pods get their identity from. Google's comes from port 80, behind Calico from port 988. */}}
{{- define "hookyard.identityAddresses" -}}
{{- $of := dict
  "eks-pod-identity" (list "169.254.170.23/32" "fd00:ec2::23/128")
  "gke" (list "169.254.169.254/32" "169.254.169.252/32")
  "node" (list "169.254.169.254/32" "fd00:ec2::254/128") }}
{{- range index $of . }}
- cidr: {{ . | quote }}
{{- end }}
{{- end }}

{{/* The most processes of a role: its replicas, or what its autoscaling may make of them. */}}
{{- define "hookyard.mostApis" -}}
{{- with .Values.api }}{{ if .autoscaling.enabled }}{{ .autoscaling.maxReplicas }}{{ else }}{{ .replicas }}{{ end }}{{ end }}
{{- end }}

{{/* How many workers there is room for in PostgreSQL, beside 10 connections for operators. Kubernetes does not count pods that are
ending: while a rolling update replaces a role, new processes can start as fast as they like beside old ones that drain, so each
counts twice. */}}
{{- define "hookyard.workersThatFit" -}}
{{- $apis := mul 2 (include "hookyard.mostApis" . | int) .Values.api.databaseConnections }}
{{- $ofWorker := int .Values.worker.databaseConnections }}
{{- if .Values.worker.versioning }}{{ $ofWorker = mul 2 $ofWorker }}{{ end }}
{{- div (max 0 (sub (sub .Values.database.maxConnections $apis) 10)) $ofWorker }}
{{- end }}
{{- define "hookyard.checkConnections" -}}
{{- $fit := include "hookyard.workersThatFit" . | int }}
{{- $wanted := .Values.worker.replicas | int }}
{{- if .Values.worker.autoscaling.enabled }}{{ $wanted = .Values.worker.autoscaling.minReplicas | int }}{{ end }}
{{- if gt $wanted $fit }}
{{- fail (printf "database.maxConnections is %d, which is enough for %s API processes and %d workers, not for %d workers (processes that are replaced during an update count twice): raise it as far as PostgreSQL's max_connections allows, or run fewer (docs/operate/postgresql.md)" (int .Values.database.maxConnections) (include "hookyard.mostApis" .) $fit $wanted) }}
{{- end }}
{{- end }}
