{{/* Labels that find the pods of a component. */}}
{{- define "ordinate.selector" -}}
app.kubernetes.io/name: ordinate
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/*
The pod of a component, which runs one command: root, component, command, resources. One that goes on has probes and
metrics; one that ends has a claim of the volume that it writes, and further words of its command.
*/}}
{{- define "ordinate.pod" -}}
{{- $values := .root.Values -}}
{{- $image := printf "%s:%s" $values.image.repository (default .root.Chart.AppVersion $values.image.tag) -}}
metadata:
  labels:
    {{- include "ordinate.selector" . | nindent 4 }}
  {{- if .probes }}
  annotations:
    prometheus.io/scrape: 'true'
    prometheus.io/port: '9464'
  {{- end }}
spec:
  {{- if .claim }}
  restartPolicy: Never
  {{- end }}
  serviceAccountName: {{ .root.Release.Name }}
  automountServiceAccountToken: false
  {{- with $values.imagePullSecrets }}
  imagePullSecrets: {{ toJson . }}
  {{- end }}
  # The server waits 20 seconds for running requests.
  terminationGracePeriodSeconds: 40
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    seccompProfile: { type: RuntimeDefault }
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "ordinate.selector" . | nindent 10 }}
  initContainers:
    # The file of keys is refused if others may read it, and files of a secret belong to a group.
    - name: secrets-key
      image: {{ $image | quote }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      command: [install, '-m', '0600', /secrets-of-cluster/secrets.key, /secrets/secrets.key]
      securityContext: &alone
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      volumeMounts:
        - { name: secrets-of-cluster, mountPath: /secrets-of-cluster, readOnly: true }
        - { name: secrets, mountPath: /secrets }
  containers:
    - name: {{ .component }}
      image: {{ $image | quote }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      args: {{ concat (list .command) (default list .words) | toJson }}
      securityContext: *alone
      {{- if .probes }}
      ports:
        {{- if eq .command "serve" }}
        - { name: http, containerPort: 3000 }
        {{- end }}
        - { name: metrics, containerPort: 9464 }
      {{- end }}
      env:
        - name: ORDINATE_CATALOG
          value: {{ include "ordinate.catalog" $values | quote }}
        - name: PGPASSWORD
          valueFrom: { secretKeyRef: { name: {{ $values.catalog.secret }}, key: password } }
        - name: ORDINATE_STORAGE
          value: {{ required "storage.url must be s3://BUCKET/PREFIX" $values.storage.url | quote }}
        {{- with $values.storage.endpoint }}
        - { name: ORDINATE_STORAGE_ENDPOINT, value: {{ . | quote }} }
        {{- end }}
        {{- with $values.storage.region }}
        - { name: ORDINATE_STORAGE_REGION, value: {{ . | quote }} }
        {{- end }}
        - { name: ORDINATE_STORAGE_CACHE, value: {{ $values.cache.files | quote }} }
        {{- with $values.storage.secret }}
        - name: AWS_ACCESS_KEY_ID
          valueFrom: { secretKeyRef: { name: {{ . }}, key: AWS_ACCESS_KEY_ID } }
        - name: AWS_SECRET_ACCESS_KEY
          valueFrom: { secretKeyRef: { name: {{ . }}, key: AWS_SECRET_ACCESS_KEY } }
        {{- end }}
        {{- if .probes }}
        - { name: ORDINATE_METRICS_HOST, value: 0.0.0.0 }
        - { name: ORDINATE_METRICS_PORT, value: '9464' }
        {{- end }}
        {{- with $values.publicUrl }}
        - { name: ORDINATE_PUBLIC_URL, value: {{ . | quote }} }
        {{- end }}
        {{- if eq .command "serve" }}
        - { name: ORDINATE_JOBS, value: 'off' }
        {{- with $values.limits.secret }}
        - name: ORDINATE_LIMITS
          valueFrom: { secretKeyRef: { name: {{ . }}, key: url } }
        {{- end }}
        {{- with $values.trustedProxies }}
        - { name: ORDINATE_TRUSTED_PROXIES, value: {{ . | quote }} }
        {{- end }}
        {{- end }}
        {{- range $name, $value := $values.settings }}
        - { name: {{ $name }}, value: {{ $value | toString | quote }} }
        {{- end }}
      {{- with .probes }}
      {{- . | nindent 6 }}
      {{- end }}
      resources: {{ toJson .resources }}
      volumeMounts:
        - { name: data, mountPath: /data }
        - { name: temporary, mountPath: /tmp }
        - { name: secrets, mountPath: /secrets }
        {{- if .claim }}
        - { name: backup, mountPath: /backup }
        {{- end }}
        {{- if $values.catalog.caKey }}
        - { name: catalog, mountPath: /catalog, readOnly: true }
        {{- end }}
        {{- if $values.credentials }}
        - { name: credentials, mountPath: /credentials, readOnly: true }
        {{- end }}
  volumes:
    - name: data
      {{- if $values.cache.storageClassName }}
      ephemeral:
        volumeClaimTemplate:
          spec:
            accessModes: [ReadWriteOnce]
            storageClassName: {{ $values.cache.storageClassName | quote }}
            resources: { requests: { storage: {{ $values.cache.volume }} } }
      {{- else }}
      emptyDir: { sizeLimit: {{ $values.cache.volume }} }
      {{- end }}
    {{- with .claim }}
    - { name: backup, persistentVolumeClaim: { claimName: {{ . }} } }
    {{- end }}
    - { name: temporary, emptyDir: { sizeLimit: 1Gi } }
    - { name: secrets, emptyDir: { medium: Memory, sizeLimit: 1Mi } }
    - name: secrets-of-cluster
      secret: { secretName: {{ $values.secretsKey }}, defaultMode: 0440 }
    {{- with $values.catalog.caKey }}
    - name: catalog
      secret:
        secretName: {{ $values.catalog.secret }}
        items: [{ key: {{ . }}, path: ca.crt }]
    {{- end }}
    {{- with $values.credentials }}
    - name: credentials
      secret: { secretName: {{ . }}, defaultMode: 0440 }
    {{- end }}
{{- end }}

{{/* A budget lets one pod of a component go at a time. One that is not ready may always go: it answers nobody. */}}
{{- define "ordinate.budget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .root.Release.Name }}-{{ .component }}
spec:
  maxUnavailable: 1
  {{- if semverCompare ">=1.27.0-0" .root.Capabilities.KubeVersion.Version }}
  unhealthyPodEvictionPolicy: AlwaysAllow
  {{- end }}
  selector:
    matchLabels:
      {{- include "ordinate.selector" . | nindent 6 }}
{{- end }}

{{/* The address of the catalog, without its password. */}}
{{- define "ordinate.catalog" -}}
{{- $host := required "catalog.host must be the name of the PostgreSQL server" .catalog.host -}}
postgres://{{ .catalog.user | urlquery }}@{{ $host }}:{{ .catalog.port }}/{{ .catalog.database | urlquery }}?sslmode={{ .catalog.sslmode }}
{{- if .catalog.caKey }}&sslrootcert=/catalog/ca.crt{{ end }}
{{- end }}
