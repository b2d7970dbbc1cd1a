// Prints a composition as Docker Compose reads it, as JSON: with the variables of the environment, and with what its env_file holds.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	if err := show(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func show(file string) error {
	options, err := cli.NewProjectOptions([]string{file}, cli.WithOsEnv)
	if err != nil {
		return err
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		return err
	}
	text, err := project.MarshalJSON()
	if err != nil {
		return err
	}
	fmt.Println(string(text))
	return nil
}
