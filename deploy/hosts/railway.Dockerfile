# Railway builds from a repository: a service of this one, deploy/hosts/railway.json as its config file, a volume at /data, the target port
# 3000, and the variables PORT=3000, which its health checks use, and HOOKYARD_PUBLIC_URL=https://${{RAILWAY_PUBLIC_DOMAIN}}.
FROM ghcr.io/hookyard/hookyard-all-in-one:0.1.0
