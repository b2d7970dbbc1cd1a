module hookyard/sdk/go

go 1.24
